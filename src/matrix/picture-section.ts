/**
 * Which section of a panel a picture shows, how blurred it is and how dark its black is, told by figures that were
 * read in it.
 */
import { median } from '../base/index.js';
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

/** How dark black is in pictures of a section: 1 if it is black. Outlines tell it; a thin line by itself does not. */
function blackOf(seen: readonly SeenFigure[], section: Section): number {
  const view = new SectionView({ ...section, black: 1 });
  const blacknesses = seen.map(({ ink, drawing }) => view.formOf(drawing).blackness(ink));
  return median(blacknesses.filter((black) => !Number.isNaN(black)));
}

/** How far a section is tried to be moved, resized or blurred from the last: that of all panels, then one's own. */
const REACHES = [1.5, 0.75, 0.4] as const;
const NEAR_REACHES = [0.5, 0.2] as const;
/** Black at least: a paler picture is not understood. */
const PALEST = 0.5;

/** A section, and the squared ink that the figures that tell it explain in it. */
export interface FoundSection {
  readonly section: Section;
  readonly gain: number;
}

/** The section that pictures show by the figures seen in them, as if they showed just all of a panel. */
export function sectionOf(seen: readonly SeenFigure[]): FoundSection {
  return REACHES.reduce<FoundSection>(
    ({ section: from }, reach) => {
      const { section, gain } = searched(seen, from, [reach]);
      const black = Math.max(PALEST, Math.min(1, blackOf(seen, section)));
      return { section: { ...section, black }, gain };
    },
    { section: WHOLE_PANEL, gain: 0 },
  );
}

/** The section of one picture, near that of others. */
export const sectionNear = (seen: readonly SeenFigure[], from: Section): Section =>
  searched(seen, from, NEAR_REACHES).section;

/** The section in which figures explain most, searched from one on in steps that become shorter. */
function searched(
  seen: readonly SeenFigure[],
  from: Section,
  reaches: readonly number[],
): FoundSection {
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
  return best;
}
