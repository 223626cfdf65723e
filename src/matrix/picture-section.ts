/**
 * Which section of a panel a picture shows, how blurred it is and how dark its black is, told by figures that were
 * read in it.
 */
import { median } from '../base/index.js';
import type { FigureForm } from './figure-form.js';
import { SectionView, WHOLE_PANEL, type Drawing, type Section } from './figure-drawing.js';

/** A figure in a picture. */
export interface SeenFigure {
  readonly ink: Float32Array;
  readonly drawing: Drawing;
  /** Of its inside: 0 black, 1 white. */
  readonly shade: number;
}

/** A section moved to the right or down, made smaller about its middle, or more blurred. */
const CHANGES: readonly ((section: Section, by: number) => Section)[] = [
  (section, by) => ({ ...section, left: section.left + by }),
  (section, by) => ({ ...section, top: section.top + by }),
  (section, by) => ({
    ...section,
    left: section.left + by,
    top: section.top + by,
    side: section.side - 2 * by,
  }),
  (section, by) => ({ ...section, spread: Math.max(LEAST_SPREAD, section.spread + by) }),
];
/** Sharper than this no picture is. */
const LEAST_SPREAD = 0.5;

/** Where a parabola through values at -1, 0 and 1 is highest, at most 1 away. */
function peakOf(before: number, at: number, after: number): number {
  const bend = before - 2 * at + after;
  if (bend >= 0) return Math.sign(after - before);
  return Math.max(-1, Math.min(1, (before - after) / (2 * bend)));
}

/** What figures in pictures of a section show if they may have any shades. */
function fits(seen: readonly SeenFigure[], section: Section): ReturnType<FigureForm['fit']>[] {
  const view = new SectionView({ ...section, black: 1 });
  return seen.map(({ ink, drawing }) => view.formOf(drawing).fit(ink));
}

/** How dark the outlines of figures are in pictures of a section; a thin line by itself does not tell. */
const blacknesses = (seen: readonly SeenFigure[], section: Section): number[] =>
  fits(seen, section).flatMap(({ black }) => black ?? []);

/** The black that most outlines have, within what can be understood. */
const blackOf = (outlines: readonly number[]): number =>
  Math.max(PALEST, Math.min(1, median(outlines)));

/** How far a section is tried to be moved, resized or blurred from the last: that of all panels, then one's own. */
const REACHES = [1.5, 0.75, 0.4] as const;
const NEAR_REACHES = [0.5, 0.2] as const;
/** Black at least: a paler picture is not understood. */
const PALEST = 0.5;
/** Black as dark as this is black: it is measured no better. */
const NEARLY_BLACK = 0.98;

/** A section, and the squared ink that the figures that tell it explain in it. */
interface FoundSection {
  readonly section: Section;
  readonly gain: number;
}

/**
 * The section that pictures show by the figures seen in them, as if they showed just all of a panel. The gain is that of
 * any shades: those of pale pictures are misread at first.
 */
export function sectionOf(seen: readonly SeenFigure[]): FoundSection {
  let section = WHOLE_PANEL;
  for (const reach of REACHES) {
    section = searched(seen, section, [reach]);
    section = { ...section, black: blackOf(blacknesses(seen, section)) };
  }
  return { section, gain: fits(seen, section).reduce((sum, { gain }) => sum + gain, 0) };
}

/** The section of one picture, near that of others. */
export const sectionNear = (seen: readonly SeenFigure[], from: Section): Section =>
  searched(seen, from, NEAR_REACHES);

/**
 * How dark black is in one picture with several groups of panels, each of a section of its own. Sections of groups
 * alone let it seem paler: each panel is cut a little otherwise.
 */
export function blackIn(
  groups: readonly { readonly seen: readonly SeenFigure[]; readonly section: Section }[],
): number {
  const outlines = groups.flatMap(({ seen, section }) =>
    [...new Set(seen.map(({ ink }) => ink))].flatMap((panel) => {
      const own = seen.filter(({ ink }) => ink === panel);
      return blacknesses(own, sectionNear(own, section));
    }),
  );
  const black = blackOf(outlines);
  return black > NEARLY_BLACK ? 1 : black;
}

/** The section in which figures explain most, searched from one on in steps that become shorter. */
function searched(seen: readonly SeenFigure[], from: Section, reaches: readonly number[]): Section {
  const drawn = seen.map(({ drawing: { whole, inside }, shade }) =>
    whole.map((value, i) => value - shade * inside[i]),
  );
  const gainOf = (section: Section): number => {
    const view = new SectionView(section);
    return seen.reduce(
      (sum, { ink, drawing }, i) => sum + view.gainOf(ink, drawn[i], drawing.region),
      0,
    );
  };
  let best = { section: from, gain: gainOf(from) };
  for (const reach of reaches) {
    for (const change of CHANGES) {
      const [before, after] = [-reach, reach].map((by) => gainOf(change(best.section, by)));
      const section = change(best.section, reach * peakOf(before, best.gain, after));
      const gain = gainOf(section);
      if (gain > best.gain) best = { section, gain };
    }
  }
  return best.section;
}
