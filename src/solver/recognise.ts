/**
 * Recognises the panels of a picture: which configuration they are of, and what they show. Panels in
 * another style than the data sets' (SVG, blurred scans) are drawn anew in theirs, which is what models know.
 * Panels that cannot be read are left as they are, and so are all panels of a picture in the data sets' style.
 */
import {
  ALL_LAYOUTS,
  blackIn,
  FigureFinder,
  findConfiguration,
  inkOf,
  layoutOf,
  MESH_LAYOUTS,
  renderPanel64,
  sectionOf,
  showsMesh,
  SMALL_SIZE,
  type ConfigurationLayout,
  type ReadFigures,
  type SeenFigure,
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
/** ... and its drawing is further off than this, in mean squared difference; half of the panels of our style are not. */
const SAME_STYLE = 0.002;
/** Drawings as near as this are the same to the pixel. In our style a quarter is, even if most figures are turned. */
const SAME_PIXELS = 0.0001;

/** A second reading counts if it leaves at most so much of the ink that the first one left unexplained. */
const CLEARLY_LESS = 0.75;

/** Panels of one layout as read, and the style they were read in. */
interface ReadStyle {
  readonly finder: FigureFinder;
  /** In the order of the panels, those of the matrix first. */
  readonly read: readonly ReadFigures[];
}

/** Pictures of panels for `FigureFinder`: those of the matrix, then candidates, which may be cut otherwise. */
type Inks = readonly (readonly Float32Array[])[];

/** In a candidate, unlike in a matrix, figures may differ where the layout has them alike. */
const isUnlike = (group: number): boolean => group === 1;

/** The squared ink that figures explain. */
const gainOf = (read: readonly ReadFigures[]): number =>
  read.reduce((sum, { explained, ink }) => sum + explained * ink, 0);

/** The style whose figures explain most, the first of several. */
const bestOf = <T>(styles: readonly T[], gain: (style: T) => number): T =>
  styles.reduce((best, style) => (gain(style) > gain(best) ? style : best));

/** The style that panels seem to have at first. */
const firstOf = (styles: readonly ReadStyle[]): ReadStyle =>
  bestOf(styles, ({ read }) => gainOf(read));

/** Reads panels as drawn with the figures of the raster images, then with ideal ones. */
const readStyles = (layout: ConfigurationLayout, inks: Inks): ReadStyle[] =>
  [true, false].map((truncated) => {
    const finder = new FigureFinder(layout, { side: SMALL_SIZE, truncated });
    const read = inks.flatMap((group, g) => group.map((ink) => finder.read(ink, isUnlike(g))));
    return { finder, read };
  });

/** So many panels of a group tell its section and the style. */
const TELLING = 4;

/** Panels of one group with what was read of them. */
interface ReadGroup {
  readonly inks: readonly Float32Array[];
  readonly read: readonly ReadFigures[];
}

/** What was read of panels, in their groups. */
function grouped(read: readonly ReadFigures[], inks: Inks): ReadGroup[] {
  let next = 0;
  return inks.map((group) => ({ inks: group, read: read.slice(next, (next += group.length)) }));
}

/** Figures of some of a group's pictures, which tell its section. */
function tellingFigures(finder: FigureFinder, { inks, read }: ReadGroup): SeenFigure[] {
  const every = Math.ceil(inks.length / TELLING);
  return inks.flatMap((ink, i) => (i % every === 0 ? finder.figuresIn(ink, read[i]) : []));
}

/**
 * Reads panels again as the sections that their pictures show: cells cut inside of their frames are a pixel off,
 * and figures a few pixels wide are then taken for darker or smaller ones. Panels that this does not explain
 * clearly better stay as read.
 */
function readSections(styles: readonly ReadStyle[], inks: Inks): ReadFigures[] {
  const closer = styles.map(({ finder, read }) => {
    const groups = grouped(read, inks).map((group) => {
      const seen = tellingFigures(finder, group);
      return { ...group, seen, ...sectionOf(seen) };
    });
    return { finder, groups, gain: groups.reduce((sum, { gain }) => sum + gain, 0) };
  });
  const { finder, groups } = bestOf(closer, ({ gain }) => gain);
  const black = blackIn(groups);
  return groups.flatMap(({ inks, read, section }, g) => {
    const forms = finder.formsIn({ ...section, black });
    return inks.map((ink, i) => {
      const near = finder.readNear(ink, forms, isUnlike(g));
      return 1 - near.explained < CLEARLY_LESS * (1 - read[i].explained) ? near : read[i];
    });
  });
}

/** Panels as their figures are drawn in the data sets; null if they cannot be read. */
const redraw = (layout: ConfigurationLayout, read: ReadFigures): Panel | null =>
  read.explained < READABLE ? null : bytesToPanel(renderPanel64(layout, read.panel));

/** How far panels are off their drawings. */
const errorsOf = (panels: readonly Panel[], drawn: readonly (Panel | null)[]): number[] =>
  panels.map((panel, i) => {
    const anew = drawn[i];
    return anew === null ? Infinity : redrawingError(panel, anew);
  });

/** Whether panels are in the data sets' own style. One far off its drawing was misread then. */
function areOwnStyle(errors: readonly number[]): boolean {
  const rising = [...errors].sort((a, b) => a - b);
  const [quarter, half] = [rising[rising.length >> 2], rising[rising.length >> 1]];
  return half < SAME_STYLE || quarter < SAME_PIXELS;
}

/**
 * Panels as their figures are drawn in the data sets, or as they are. One picture has one style: if it is the data
 * sets' own, no panel is drawn anew. A panel that was misread then would show something else.
 */
function inOwnStyle(
  layout: ConfigurationLayout,
  panels: readonly Panel[],
  inks: Inks,
  styles: readonly ReadStyle[],
): readonly Panel[] {
  const drawnAs = (read: readonly ReadFigures[]): (Panel | null)[] =>
    read.map((each) => redraw(layout, each));
  const { finder, read } = firstOf(styles);
  if (finder.options.truncated && areOwnStyle(errorsOf(panels, drawnAs(read)))) return panels;
  const drawn = drawnAs(readSections(styles, inks));
  const errors = errorsOf(panels, drawn);
  return panels.map((panel, i) => (errors[i] < SAME_STYLE ? panel : (drawn[i] ?? panel)));
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
  const inks = [given, candidates]
    .filter((group) => group.length > 0)
    .map((group) => group.map((each) => inkOf(each, SMALL_SIZE)));
  const styles = readStyles(layout, inks);
  if (haveMesh(layout, given, firstOf(styles).read)) {
    const { configuration, noisy } = layout;
    return { layout: layoutOf(configuration, noisy, true), panels, candidates, redrawn: 0 };
  }
  const drawn = inOwnStyle(layout, all, inks, styles);
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
  /** Its candidates as they are in the picture. */
  readonly originals: readonly Panel[];
  readonly redrawn: number;
}

/** Recognises a problem: a RAVEN file tells its configuration itself, and its panels tell of noise. */
export function recogniseProblem(problem: ProblemInput): RecognisedProblem {
  const { configurations, candidates: originals } = problem;
  if (configurations === null) {
    const found = recognise(problem);
    if (found === null) return { layout: null, problem, originals, redrawn: 0 };
    const { layout, panels, candidates, redrawn } = found;
    return { layout, problem: { ...problem, panels, candidates }, originals, redrawn };
  }
  const layouts = problem.mesh ? MESH_LAYOUTS : ALL_LAYOUTS;
  const told = layouts.filter(({ configuration }) => configurations.includes(configuration));
  const given = problem.panels.filter((panel) => panel !== null);
  // The lines of a mesh are no figures to compare.
  const among = told.length > 0 ? told : undefined;
  const found = problem.mesh ? undefined : findConfiguration(given, among)?.layout;
  const layout = found ?? told.at(0) ?? null;
  return { layout, problem, originals, redrawn: 0 };
}
