/**
 * Candidates that their descriptions cannot tell apart are painted. The score of a candidate is
 * -log p(candidate | context); it has a term for its description, the calibrated distance, and one for how well
 * this description paints it. The second is nearly the same for all candidates, and painting takes as long as the
 * rest of a solution, so it is only looked at if the first leaves a tie: a candidate that differs in something the
 * model has no concept for, such as figures unlike each other, is described as the answer is, but its painted
 * description is another picture. Plain L2 is the paper's and knows no ties.
 */
import { redrawingError } from './familiarity.js';
import type { Panel } from './panels.js';
import type { ConceptMeans } from './questions.js';

/** A candidate is tied with the nearest if it is at least this likely, that one being 1. */
const TIED = 0.1;

/** Candidates of one choice. */
interface Offer {
  /** Those tied for best, from 0; fewer than two if there is no tie. */
  readonly tied: readonly number[];
  /** exp(-distance / scale) is proportional to the probability of a candidate. */
  readonly scale: number;
  /** Pixels and concepts of a candidate, for each missing position. */
  readonly picture: (candidate: number) => readonly Panel[];
  readonly concepts: (candidate: number) => readonly ConceptMeans[];
}

/** Candidates about as near as the nearest, which is one of them. */
export function tiedForBest(distances: readonly number[], scale: number): number[] {
  const least = distances.reduce((low, distance) => Math.min(low, distance), Infinity);
  const most = least - scale * Math.log(TIED);
  return [...distances.keys()].filter((i) => distances[i] <= most);
}

/** For each picture the index of the first that is the same to the pixel. */
export const firstAlike = (pictures: readonly (readonly Panel[])[]): number[] =>
  pictures.map((own) =>
    pictures.findIndex((other) =>
      own.every((panel, t) => panel.every((value, i) => value === other[t][i])),
    ),
  );

/**
 * What painting adds to distances, by candidate; nothing for those that are not painted. The squared error of
 * all pixels (0..1) counts as it is in -log p; that of the candidate painted best is taken off all, so that it
 * stays comparable with those not painted.
 */
export async function paintTies(
  offers: readonly Offer[],
  decode: (concepts: readonly ConceptMeans[]) => Promise<Panel[]>,
): Promise<ReadonlyMap<number, number>[]> {
  // The same picture twice is no tie that painting could break.
  const ties = offers.map(({ tied, picture }) => {
    const pictures = tied.length > 1 ? tied.map(picture) : [];
    const alike = firstAlike(pictures);
    return alike.some((first) => first > 0) ? { pictures, alike, tied } : null;
  });
  const described = ties.flatMap((tie, n) => (tie?.tied ?? []).flatMap(offers[n].concepts));
  const painted = described.length === 0 ? [] : await decode(described);
  let at = 0;
  return ties.map((tie, n) => {
    if (tie === null) return new Map();
    const errors = tie.pictures.map((panels) =>
      panels.reduce((sum, panel) => sum + panel.length * redrawingError(panel, painted[at++]), 0),
    );
    const least = Math.min(...errors);
    // Equal pictures get the error of the first: rounding must not choose between them.
    return new Map(
      tie.tied.map((each, i) => [each, offers[n].scale * (errors[tie.alike[i]] - least)]),
    );
  });
}
