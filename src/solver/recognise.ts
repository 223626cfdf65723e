/**
 * Recognises the panels of a picture: which configuration they are of, and what they show. Panels in
 * another style than the data sets' (SVG, scans) are drawn anew in theirs, which is what models know.
 * Panels that cannot be read are left as they are.
 */
import {
  FigureFinder,
  findConfiguration,
  inkOf,
  renderPanel64,
  SMALL_SIZE,
  type ConfigurationLayout,
  type ReadFigures,
} from '../matrix/index.js';
import { redrawingError } from './familiarity.js';
import type { Panel } from './panels.js';

export interface Recognised {
  readonly layout: ConfigurationLayout;
  /** Nine, row by row; null if blank. */
  readonly panels: readonly (Panel | null)[];
  readonly candidates: readonly Panel[];
  /** Panels and candidates that were drawn anew. */
  readonly redrawn: number;
}

/** A panel is drawn anew if its figures explain this much of its ink ... */
const READABLE = 0.8;
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
  const drawn = Float32Array.from(renderPanel64(layout, read.panel), (byte) => byte / 255);
  return redrawingError(panel, drawn) < SAME_STYLE ? panel : drawn;
}

/** What the panels of a picture are, among some layouts; null if they are of none. */
export function recognise(
  { panels, candidates }: Pick<Recognised, 'panels' | 'candidates'>,
  among?: readonly ConfigurationLayout[],
): Recognised | null {
  const given = panels.filter((panel) => panel !== null);
  const layout = findConfiguration(given, among)?.layout;
  if (layout === undefined) return null;
  const all = [...given, ...candidates];
  const read = readPanels(layout, all);
  const drawn = all.map((panel, i) => anew(layout, panel, read[i]));
  let next = 0;
  return {
    layout,
    panels: panels.map((panel) => (panel === null ? null : drawn[next++])),
    candidates: drawn.slice(given.length),
    redrawn: drawn.filter((panel, i) => panel !== all[i]).length,
  };
}
