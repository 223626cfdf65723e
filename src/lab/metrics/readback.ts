/**
 * Does the imagined panel itself obey the rules? The paper judges generated answers by the candidate
 * they are nearest to; here the generated picture is read back and judged by itself (`readback-judge.ts`).
 * The same for true answers drawn from their own concepts tells how much of a failure is the decoder's.
 */
import { layoutOf, Random } from '../../matrix/index.js';
import type { Paint, Panel as Picture } from '../../solver/index.js';
import { withConcepts } from '../concept-subject.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import type { ReadbackResult } from '../evaluation.js';
import { drawMissing, LAST } from '../missing-sets.js';
import { shareOf } from '../statistics.js';
import type { MetricOptions, Painter } from '../subject.js';
import { seenProblems, SLICE } from './generated-source.js';
import { ReadbackJudge, type Verdict } from './readback-judge.js';

export interface ReadbackOptions extends MetricOptions {
  readonly problems?: number;
}

const DEFAULT_SEED = 7_700_000_021;
/** Matrices with two and more panels missing are measured on fewer problems: they are all painted. */
const FEWER = 10;

/** What is read back, and how. */
interface Work extends Pick<MetricOptions, 'signal' | 'onProgress'> {
  readonly subject: Painter;
  readonly judge: ReadbackJudge;
  readonly count: number;
  readonly seed: number;
  readonly paints: readonly Paint[];
}

/** One entry for each problem; nothing for a way to paint that was not asked for. */
type ByPaint<T> = Readonly<Record<Paint, T[]>>;

const noneYet = () => ({ likeliest: [], mean: [], careful: [] });

/** Shares of problems that obey the rules, named as in the result. */
const obeyShares = ({ likeliest, mean, careful }: ByPaint<boolean>) => ({
  obeys: shareOf(likeliest),
  ...(mean.length > 0 && { meanObeys: shareOf(mean) }),
  ...(careful.length > 0 && { carefulObeys: shareOf(careful) }),
});

/** Verdicts on panel 9: imagined, and drawn from its own concepts. */
async function readLast({ subject, judge, count, seed, paints, signal, onProgress }: Work) {
  const imagined: ByPaint<Verdict> = noneYet();
  const reconstructed: Verdict[] = [];
  for await (const { from, problems, matrices } of seenProblems(subject, count, seed, signal)) {
    const asked = matrices.map((panels) => ({ panels, missing: [LAST] }));
    const judged = (drawn: readonly Picture[]): Verdict[] =>
      drawn.map((picture, n) => judge.judge(problems[n], picture));
    for (const paint of paints) {
      imagined[paint].push(...judged((await subject.imagine(asked, { signal, paint })).flat()));
    }
    const answers = matrices.map((panels) => panels[LAST - 1]);
    reconstructed.push(...judged((await subject.redraw?.(answers, signal)) ?? []));
    onProgress?.(Math.min(1, (from + SLICE) / count));
  }
  return { imagined, reconstructed };
}

/** Whether the rules are obeyed if some panels at random positions are missing, by problem. */
async function readMissing(targets: number, work: Work): Promise<ByPaint<boolean>> {
  const { subject, judge, count, seed, paints, signal } = work;
  const obeyed: ByPaint<boolean> = noneYet();
  for await (const { from, problems, matrices } of seenProblems(subject, count, seed, signal)) {
    const asked = matrices.map((panels, n) => ({
      panels,
      missing: drawMissing(new Random(seed, from + n, targets), targets),
    }));
    for (const paint of paints) {
      const drawn = await subject.imagine(asked, { signal, paint });
      problems.forEach((problem, n) =>
        obeyed[paint].push(judge.obeys(problem, asked[n].missing, drawn[n])),
      );
    }
  }
  return obeyed;
}

/** Panels missing at random positions, for as many targets as there are up to eight. */
async function readAnywhere(work: Work): Promise<ReadbackResult['missing']> {
  const found = [];
  const few = {
    count: Math.ceil(work.count / FEWER),
    // Second thoughts are for one missing panel.
    paints: work.paints.filter((paint) => paint !== 'careful'),
  };
  for (let targets = 1; targets < LAST; targets++) {
    const own = targets === 1 ? work : { ...work, ...few };
    const obeyed = await readMissing(targets, own);
    found.push({ targets, problems: own.count, ...obeyShares(obeyed) });
    work.onProgress?.(targets / (LAST - 1));
  }
  return found;
}

/** Reads imagined panels back, on fresh problems whose descriptions are known. */
export async function readback(
  subject: Painter,
  options: ReadbackOptions = {},
): Promise<ReadbackResult> {
  const { problems: count = DEFAULT_COUNTS.pictures, seed = DEFAULT_SEED } = options;
  const { signal, onProgress } = options;
  const { configuration, noisy, positions } = subject.facts;
  const judge = new ReadbackJudge(layoutOf(configuration, noisy));
  const hasWords = (withConcepts(subject)?.solver.vocabulary ?? null) !== null;
  const paints: readonly Paint[] = hasWords ? ['likeliest', 'mean', 'careful'] : ['likeliest'];
  const work = { subject, judge, count, seed, paints, signal };
  const { imagined, reconstructed } = await readLast({
    ...work,
    onProgress: (share) => onProgress?.(share / 2),
  });
  const missing =
    positions === 'any' &&
    (await readAnywhere({ ...work, onProgress: (share) => onProgress?.(0.5 + share / 2) }));
  const obeyed = (verdicts: readonly Verdict[]): boolean[] => verdicts.map(({ obeys }) => obeys);
  const unreadable = (verdicts: readonly Verdict[]) =>
    shareOf(verdicts.map(({ readable }) => !readable));
  const { likeliest, mean, careful } = imagined;
  const readable = likeliest.filter((verdict) => verdict.readable);
  const rightOf = (v: number): number =>
    readable.filter(({ attributes }) => attributes[v]).length / Math.max(1, readable.length);
  return {
    problems: count,
    seed,
    ...obeyShares({ likeliest: obeyed(likeliest), mean: obeyed(mean), careful: obeyed(careful) }),
    agrees: shareOf(likeliest.map(({ agrees }) => agrees)),
    unreadable: unreadable(likeliest),
    ...(missing && { missing }),
    ...(reconstructed.length > 0 && {
      reconstructedObeys: shareOf(obeyed(reconstructed)),
      reconstructedUnreadable: unreadable(reconstructed),
    }),
    byAttribute: judge.attributes.map((attribute, v) => ({ attribute, share: rightOf(v) })),
  };
}
