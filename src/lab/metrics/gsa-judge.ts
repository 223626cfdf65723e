/**
 * The work of GSA on some of the problems: positions and distractors are drawn, the subject is asked to
 * choose, choices are credited. What a problem is asked depends on its number and the seed alone, so
 * problems can be shared out over threads in any way and give the same credits.
 */
import { ArgumentError } from '../../base/index.js';
import { MATRIX_PANELS, Random } from '../../matrix/index.js';
import { drawMissing } from '../missing-sets.js';
import type { Seen, Subject } from '../subject.js';

export const GSA_TARGETS = [1, 2, 3] as const;
export const GSA_CANDIDATES = [2, 4, 8, 16] as const;
const MOST_CANDIDATES = Math.max(...GSA_CANDIDATES);
const MOST_TRIES = 10_000;

export interface GsaProblems {
  readonly count: number;
  /** [count, 9], equal for panels that are equal to the pixel. */
  readonly codes: Int32Array;
  /** [count][9] */
  readonly panels: readonly (readonly Seen[])[];
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
export type GsaWay = 'own' | 'l2' | 'eachOwn' | 'eachL2';

/**
 * Credits summed over repeats, and over targets if each is judged alone, for each way that the subject can
 * be judged in [number of candidates][problem of the task]. Whole numbers but for ties, so that what is
 * all right is exactly 1.
 */
export type GsaCredits = Partial<Record<GsaWay, readonly Float64Array[]>>;

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
  constructor(
    readonly subject: Pick<Subject, 'choose'>,
    readonly problems: GsaProblems,
    readonly settings: GsaSettings,
  ) {}

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

  /** What problem `n` is asked: the answer comes first among the candidates. */
  #question(n: number, targets: number, repeat: number) {
    const { panels } = this.problems;
    const { seed, repeats } = this.settings;
    const random = new Random(seed, n, targets * repeats + repeat);
    const missing = drawMissing(random, targets);
    const together = [n, ...this.#distractors(random, n, missing)];
    // With one target each alone is the same as all together.
    const alone = targets === 1 ? [] : missing;
    const apart = alone.map((position) => [n, ...this.#distractors(random, n, [position])]);
    return {
      panels: panels[n],
      missing,
      candidates: together.map((other) => missing.map((at) => panels[other][at - 1])),
      apart: apart.map((others, t) => others.map((other) => panels[other][missing[t] - 1])),
    };
  }

  async run({ targets, first, count }: GsaTask, signal?: AbortSignal): Promise<GsaCredits> {
    const credits: Partial<Record<GsaWay, Float64Array[]>> = {};
    const give = (way: GsaWay, place: number, distances: readonly number[] | null): void => {
      if (distances === null) return;
      credits[way] ??= GSA_CANDIDATES.map(() => new Float64Array(count));
      credit(credits[way], place, distances);
    };
    // All repeats at once: a GPU is not filled by fewer questions.
    const questions = Array.from({ length: this.settings.repeats * count }, (_, i) =>
      this.#question(first + (i % count), targets, Math.floor(i / count)),
    );
    const found = await this.subject.choose(questions, { signal, anywhere: true });
    found.forEach((all, i) => {
      give('own', i % count, all.own);
      give('l2', i % count, all.l2);
      const apart = targets === 1 && all.l2 !== null ? [all] : all.apart;
      for (const each of apart) {
        give('eachOwn', i % count, each.own);
        give('eachL2', i % count, each.l2);
      }
    });
    return credits;
  }
}
