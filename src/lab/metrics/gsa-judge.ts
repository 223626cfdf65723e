/**
 * The work of GSA on some of the problems: positions and distractors are drawn, missing panels
 * predicted, choices credited. What a problem is asked depends on its number and the seed alone, so
 * problems can be shared out over threads in any way and give the same credits.
 */
import { ArgumentError } from '../../base/index.js';
import { MATRIX_PANELS, Random } from '../../matrix/index.js';
import type { ConceptMeans, SelectionStatistics } from '../../solver/index.js';
import type { Thinker } from '../subject.js';
import { flat, ownSpace, PLAIN_SPACE, squaredDistance, statisticsFor } from './distance.js';
import type { ConceptSpace } from './distance.js';

export const GSA_TARGETS = [1, 2, 3] as const;
export const GSA_CANDIDATES = [2, 4, 8, 16] as const;
const MOST_CANDIDATES = Math.max(...GSA_CANDIDATES);
const SLICE = 32;
const MOST_TRIES = 10_000;

/** Problems in arrays that threads can share. */
export interface GsaProblems {
  readonly count: number;
  /** [count, 9], equal for panels that are equal to the pixel. */
  readonly codes: Int32Array;
  /** Concepts [count, 9, M, d_z]. */
  readonly concepts: Float32Array;
}

export interface GsaSettings {
  readonly repeats: number;
  readonly seed: number;
}

/** Problems `first` .. `first + count - 1` with so many panels missing. */
export interface GsaTask {
  readonly targets: number;
  readonly first: number;
  readonly count: number;
}

/** How a choice is judged: targets together or each alone, by the own distance or by L2. */
export const GSA_WAYS = ['own', 'l2', 'eachOwn', 'eachL2'] as const;
/**
 * Credits summed over repeats, and over targets where each is judged alone, for each way [number of
 * candidates][problem of the task]. Whole numbers but for ties, so that what is all right is exactly 1.
 */
export type GsaCredits = Readonly<Record<(typeof GSA_WAYS)[number], readonly Float64Array[]>>;

/** Concepts of all panels in a space, [problem][position - 1], and the way predictions get there. */
interface Placed {
  readonly space: ConceptSpace;
  readonly rows: readonly (readonly Float64Array[])[];
}

interface Spaces {
  readonly own: Placed;
  readonly l2: Placed;
}

function newCredits(count: number): GsaCredits {
  const credits = (): Float64Array[] => GSA_CANDIDATES.map(() => new Float64Array(count));
  return { own: credits(), l2: credits(), eachOwn: credits(), eachL2: credits() };
}

/** Adds to `credits` what the answer earns among the first candidates; it comes first. */
function credit(
  credits: readonly Float64Array[],
  place: number,
  distances: readonly number[],
): void {
  const [answer] = distances;
  let nearer = 0;
  let alike = 1;
  let at = 1;
  GSA_CANDIDATES.forEach((candidates, c) => {
    for (; at < candidates; at++) {
      if (distances[at] < answer) nearer++;
      else if (distances[at] === answer) alike++;
    }
    if (nearer === 0) credits[c][place] += 1 / alike;
  });
}

export class GsaJudge {
  readonly #means: readonly (readonly ConceptMeans[])[];
  readonly #plain: Placed;
  /** By the number of targets: statistics differ. */
  readonly #spaces = new Map<number, Spaces>();

  constructor(
    readonly solver: Pick<Thinker, 'manifest' | 'solveConcepts'>,
    readonly statistics: SelectionStatistics | null,
    readonly problems: GsaProblems,
    readonly settings: GsaSettings,
  ) {
    const { concepts: m, conceptSize } = solver.manifest.sizes;
    const panel = (at: number): ConceptMeans =>
      Array.from({ length: m }, (_, c) =>
        problems.concepts.subarray((at * m + c) * conceptSize, (at * m + c + 1) * conceptSize),
      );
    this.#means = Array.from({ length: problems.count }, (_, n) =>
      Array.from({ length: MATRIX_PANELS }, (_, i) => panel(n * MATRIX_PANELS + i)),
    );
    const rows = this.#means.map((panels) => panels.map(flat));
    this.#plain = { space: PLAIN_SPACE, rows };
  }

  #spacesFor(targets: number): Spaces {
    const known = this.#spaces.get(targets);
    if (known !== undefined) return known;
    const { conceptSize } = this.solver.manifest.sizes;
    const space = ownSpace(statisticsFor(this.statistics, targets), conceptSize);
    const rows = this.#plain.rows.map((panels) => panels.map((row) => space.encoded(row)));
    const spaces = { own: { space, rows }, l2: this.#plain };
    // Only the last is kept: tasks come one number of targets after the other.
    this.#spaces.clear();
    this.#spaces.set(targets, spaces);
    return spaces;
  }

  /** Other problems whose panels at some positions are not those of problem `n`. */
  #distractors(random: Random, n: number, positions: readonly number[]): number[] {
    const { codes, count } = this.problems;
    const code = (problem: number, position: number): number =>
      codes[problem * MATRIX_PANELS + position - 1];
    const found = new Set<number>();
    for (let tries = 0; found.size < MOST_CANDIDATES - 1; tries++) {
      if (tries > MOST_TRIES) {
        throw new ArgumentError(
          `problem ${n + 1} has fewer than ${MOST_CANDIDATES - 1} others with different panels: give more problems`,
        );
      }
      const other = random.below(count);
      if (!positions.every((at) => code(other, at) === code(n, at))) found.add(other);
    }
    return [...found];
  }

  /** Judges problem `n` with these positions missing, predicted concepts [target][D] given. */
  #judge(
    credits: GsaCredits,
    place: number,
    n: number,
    positions: readonly number[],
    predicted: readonly Float64Array[],
    spaces: Spaces,
    random: Random,
  ): void {
    const together = [n, ...this.#distractors(random, n, positions)];
    const apart = positions.map((position) =>
      positions.length === 1 ? together : [n, ...this.#distractors(random, n, [position])],
    );
    for (const name of ['own', 'l2'] as const) {
      const { space, rows } = spaces[name];
      const guesses = predicted.map((row) => space.predicted(row));
      const distance = (other: number, t: number): number =>
        squaredDistance(guesses[t], rows[other][positions[t] - 1]);
      const added = together.map((other) =>
        positions.reduce((sum, _, t) => sum + distance(other, t), 0),
      );
      credit(credits[name], place, added);
      const each = name === 'own' ? credits.eachOwn : credits.eachL2;
      apart.forEach((offered, t) => {
        const alone = offered.map((other) => distance(other, t));
        credit(each, place, alone);
      });
    }
  }

  async run({ targets, first, count }: GsaTask, signal?: AbortSignal): Promise<GsaCredits> {
    const { repeats, seed } = this.settings;
    const spaces = this.#spacesFor(targets);
    const credits = newCredits(count);
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (let from = first; from < first + count; from += SLICE) {
        const slice = this.#means
          .slice(from, Math.min(from + SLICE, first + count))
          .map((concepts, i) => {
            const random = new Random(seed, from + i, targets * repeats + repeat);
            const missing = random.subset(MATRIX_PANELS, targets).map((place) => place + 1);
            return { random, concepts, missing: missing.sort((a, b) => a - b) };
          });
        const answers = await this.solver.solveConcepts(
          slice.map(({ concepts, missing }) => ({ concepts, missing })),
          { signal },
        );
        slice.forEach(({ random, missing }, i) => {
          const predicted = missing.map((position) => flat(answers[i].concepts[position - 1]));
          const n = from + i;
          this.#judge(credits, n - first, n, missing, predicted, spaces, random);
        });
      }
    }
    return credits;
  }
}
