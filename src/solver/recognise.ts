/**
 * Recognises the panels of a picture: which configuration they are of, and what they show. Panels in
 * another style than the data sets' (SVG, scans) are drawn anew in theirs, which is what models know.
 * Panels that cannot be read are left as they are.
 */
import {
  ALL_LAYOUTS,
  FigureFinder,
  findConfiguration,
  inkOf,
  layoutOf,
  MESH_LAYOUTS,
  renderPanel64,
  showsMesh,
  SMALL_SIZE,
  type ConfigurationLayout,
  type ReadFigures,
} from '../matrix/index.js';
import { redrawingError } from './familiarity.js';
import { bytesToPanel, type Panel } from './panels.js';
import type { ProblemInput } from './problem-input.js';

export interface Recognised {
  readonly layout: ConfigurationLayout;
  /** Nine, row by row; null if blank. */
  readonly panels: readonly (Panel | null)[];
  readonly candidates: readonly Panel[];
  /** Panels and candidates that were drawn anew. */
  readonly redrawn: number;
}

/** A panel is drawn anew if its figures explain this much of its ink ... */
const READABLE = 0.35;
/** ... and its drawing is further off than this, in mean squared difference. */
const SAME_STYLE = 0.002;

/** Reads panels as drawn with ideal figures or with those of the raster images, whichever fits better. */
function readPanels(layout: ConfigurationLayout, panels: readonly Panel[]): readonly ReadFigures[] {
  const inks = panels.map((panel) => inkOf(panel, SMALL_SIZE));
  const [ideal, raster] = [false, true].map((truncated) => {
    const finder = new FigureFinder(layout, { side: SMALL_SIZE, truncated });
    const read = inks.map((ink) => finder.read(ink));
    return { read, gain: read.reduce((sum, { explained, ink }) => sum + explained * ink, 0) };
  });
  return (raster.gain >= ideal.gain ? raster : ideal).read;
}

/** A panel as its figures are drawn in the data sets, or as it is. */
function anew(layout: ConfigurationLayout, panel: Panel, read: ReadFigures): Panel {
  if (read.explained < READABLE) return panel;
  const drawn = bytesToPanel(renderPanel64(layout, read.panel));
  return redrawingError(panel, drawn) < SAME_STYLE ? panel : drawn;
}

/** Whether panels have a mesh, which no model knows: most of them show a line of one. */
function haveMesh(
  layout: ConfigurationLayout,
  panels: readonly Panel[],
  read: readonly ReadFigures[],
): boolean {
  const shown = panels.filter((panel, i) =>
    showsMesh(panel, bytesToPanel(renderPanel64(layout, read[i].panel)), SMALL_SIZE),
  );
  return shown.length > panels.length / 2;
}

/**
 * What the panels of a picture are; null if they are of no configuration. Panels with a mesh are left as
 * they are: drawn anew they would lose its lines.
 */
export function recognise({
  panels,
  candidates,
}: Pick<Recognised, 'panels' | 'candidates'>): Recognised | null {
  const given = panels.filter((panel) => panel !== null);
  const layout = findConfiguration(given)?.layout;
  if (layout === undefined) return null;
  const all = [...given, ...candidates];
  const read = readPanels(layout, all);
  if (haveMesh(layout, given, read)) {
    const { configuration, noisy } = layout;
    return { layout: layoutOf(configuration, noisy, true), panels, candidates, redrawn: 0 };
  }
  const drawn = all.map((panel, i) => anew(layout, panel, read[i]));
  let next = 0;
  return {
    layout,
    panels: panels.map((panel) => (panel === null ? null : drawn[next++])),
    candidates: drawn.slice(given.length),
    redrawn: drawn.filter((panel, i) => panel !== all[i]).length,
  };
}

/** A problem and what it was recognised as. */
export interface RecognisedProblem {
  /** Null if its panels are of no configuration. */
  readonly layout: ConfigurationLayout | null;
  /** The problem, with panels in another style drawn anew. */
  readonly problem: ProblemInput;
  readonly redrawn: number;
}

/** Recognises a problem: a RAVEN file tells its configuration itself, and its panels tell of noise. */
export function recogniseProblem(problem: ProblemInput): RecognisedProblem {
  const { configurations } = problem;
  if (configurations === null) {
    const found = recognise(problem);
    if (found === null) return { layout: null, problem, redrawn: 0 };
    const { layout, panels, candidates, redrawn } = found;
    return { layout, problem: { ...problem, panels, candidates }, redrawn };
  }
  const layouts = problem.mesh ? MESH_LAYOUTS : ALL_LAYOUTS;
  const told = layouts.filter(({ configuration }) => configurations.includes(configuration));
  const given = problem.panels.filter((panel) => panel !== null);
  // The lines of a mesh are no figures to compare.
  const among = told.length > 0 ? told : undefined;
  const found = problem.mesh ? undefined : findConfiguration(given, among)?.layout;
  const layout = found ?? told.at(0) ?? null;
  return { layout, problem, redrawn: 0 };
}
