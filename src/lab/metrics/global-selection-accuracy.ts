/**
 * Global selection accuracy, GSA (section 4, "Metrics"; section 4.2, figure of GSA): how often the true
 * panels at random positions are nearest to the predicted ones, among panels at the same positions of
 * other problems. |T| = 1, 2, 3 missing panels and N_C = 2, 4, 8, 16 candidates.
 *
 * Several targets are chosen together, their squared distances added up, as the authors' code does; and
 * each by itself with distractors of its own. A distractor that is equal to the answer to the pixel (all
 * its panels, where they are chosen together) is drawn again. The first N_C - 1 of fifteen distractors
 * make the smaller sets of candidates. Candidates as near as the answer share the choice with it.
 */
import { ArgumentError, MATRIX_PANELS, Random } from '../../matrix/index.js';
import type { GsaPoint, GsaResult } from '../evaluation.js';
import type { Subject } from '../subject.js';
import { Bootstrap } from './bootstrap.js';
import { flat, ownSpace, PLAIN_SPACE, squaredDistance, statisticsFor } from './distance.js';
import type { ConceptSpace } from './distance.js';
import type { StudiedProblems } from './studied-problems.js';

export const GSA_TARGETS = [1, 2, 3] as const;
export const GSA_CANDIDATES = [2, 4, 8, 16] as const;
const MOST_CANDIDATES = Math.max(...GSA_CANDIDATES);

export interface GsaOptions {
  readonly repeats?: number;
  readonly seed?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

const DEFAULT_REPEATS = 5;
const DEFAULT_SEED = 7_200_000_011;
const SLICE = 32;
const MOST_TRIES = 10_000;

/** Credit for each problem, added up over repeats, by number of candidates. */
type Credits = readonly Float64Array[];

/** The four ways a choice is judged. */
interface Tally {
  readonly own: Credits;
  readonly l2: Credits;
  readonly eachOwn: Credits;
  readonly eachL2: Credits;
}

/** Concepts of all panels in a space, [problem][position - 1], and the way predictions get there. */
interface Placed {
  readonly space: ConceptSpace;
  readonly rows: readonly (readonly Float64Array[])[];
}

const newTally = (count: number): Tally => {
  const credits = (): Credits => GSA_CANDIDATES.map(() => new Float64Array(count));
  return { own: credits(), l2: credits(), eachOwn: credits(), eachL2: credits() };
};

/** Other problems whose panels at some positions are not those of problem `n`. */
function drawDistractors(
  random: Random,
  keys: StudiedProblems['keys'],
  n: number,
  positions: readonly number[],
): number[] {
  const found = new Set<number>();
  for (let tries = 0; found.size < MOST_CANDIDATES - 1; tries++) {
    if (tries > MOST_TRIES) {
      throw new ArgumentError(
        `problem ${n + 1} has fewer than ${MOST_CANDIDATES - 1} others with different panels: give more problems`,
      );
    }
    const other = random.below(keys.length);
    const alike = positions.every((at) => keys[other][at - 1] === keys[n][at - 1]);
    if (!alike) found.add(other);
  }
  return [...found];
}

/** Adds to `credits` what the answer earns among the first candidates; it comes first. */
function credit(credits: Credits, n: number, distances: readonly number[], weight: number): void {
  const [answer] = distances;
  let nearer = 0;
  let alike = 1;
  let at = 1;
  GSA_CANDIDATES.forEach((candidates, c) => {
    for (; at < candidates; at++) {
      if (distances[at] < answer) nearer++;
      else if (distances[at] === answer) alike++;
    }
    if (nearer === 0) credits[c][n] += weight / alike;
  });
}

/** Judges problem `n` with these positions missing, predicted concepts [target][D] given. */
function judge(
  tally: Tally,
  n: number,
  positions: readonly number[],
  predicted: readonly Float64Array[],
  spaces: { readonly own: Placed; readonly l2: Placed },
  draw: (positions: readonly number[]) => readonly number[],
): void {
  const together = [n, ...draw(positions)];
  const apart = positions.map((position) =>
    positions.length === 1 ? together : [n, ...draw([position])],
  );
  for (const name of ['own', 'l2'] as const) {
    const { space, rows } = spaces[name];
    const guesses = predicted.map((row) => space.predicted(row));
    const distance = (other: number, t: number): number =>
      squaredDistance(guesses[t], rows[other][positions[t] - 1]);
    const added = together.map((other) =>
      positions.reduce((sum, _, t) => sum + distance(other, t), 0),
    );
    credit(tally[name], n, added, 1);
    const each = name === 'own' ? tally.eachOwn : tally.eachL2;
    apart.forEach((offered, t) => {
      const alone = offered.map((other) => distance(other, t));
      credit(each, n, alone, 1 / positions.length);
    });
  }
}

/** GSA of a model on problems already encoded. */
export async function globalSelectionAccuracy(
  subject: Pick<Subject, 'solver' | 'statistics'>,
  studied: StudiedProblems,
  options: GsaOptions = {},
): Promise<GsaResult> {
  const { repeats = DEFAULT_REPEATS, seed = DEFAULT_SEED, signal, onProgress } = options;
  const { count, keys, means } = studied;
  const { conceptSize } = subject.solver.manifest.sizes;
  const plainRows = means.map((panels) => panels.map(flat));
  const bootstrap = new Bootstrap(count);
  const points: GsaPoint[] = [];
  const rounds = GSA_TARGETS.length * repeats * Math.ceil(count / SLICE);
  let done = 0;
  for (const targets of GSA_TARGETS) {
    const own = ownSpace(statisticsFor(subject.statistics, targets), conceptSize);
    const spaces = {
      own: { space: own, rows: plainRows.map((panels) => panels.map((row) => own.encoded(row))) },
      l2: { space: PLAIN_SPACE, rows: plainRows },
    };
    const tally = newTally(count);
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (let from = 0; from < count; from += SLICE) {
        const slice = means.slice(from, from + SLICE).map((concepts, i) => {
          const random = new Random(seed, from + i, targets * repeats + repeat);
          const missing = random.subset(MATRIX_PANELS, targets).map((place) => place + 1);
          return { random, concepts, missing: missing.sort((a, b) => a - b) };
        });
        const answers = await subject.solver.solveConcepts(
          slice.map(({ concepts, missing }) => ({ concepts, missing })),
          { signal },
        );
        slice.forEach(({ random, missing }, i) => {
          const predicted = missing.map((position) => flat(answers[i].concepts[position - 1]));
          judge(tally, from + i, missing, predicted, spaces, (positions) =>
            drawDistractors(random, keys, from + i, positions),
          );
        });
        onProgress?.(++done / rounds);
      }
    }
    points.push(...pointsOf(targets, tally, repeats, bootstrap));
  }
  return { problems: studied.problems, repeats, seed, points };
}

function pointsOf(
  targets: number,
  tally: Tally,
  repeats: number,
  bootstrap: Bootstrap,
): GsaPoint[] {
  const share = (credits: Float64Array) => bootstrap.share(credits.map((sum) => sum / repeats));
  return GSA_CANDIDATES.map((candidates, c) => ({
    targets,
    candidates,
    accuracy: share(tally.own[c]),
    accuracyL2: share(tally.l2[c]),
    each: share(tally.eachOwn[c]),
    eachL2: share(tally.eachL2[c]),
  }));
}
