/**
 * Global selection accuracy, GSA (section 4, "Metrics"; section 4.2, figure of GSA): how often the true
 * panels at random positions are nearest to the predicted ones, among panels at the same positions of
 * other problems. |T| = 1, 2, 3 missing panels and N_C = 2, 4, 8, 16 candidates.
 *
 * Several targets are chosen together, their squared distances added up, as the authors' code does; and
 * each by itself with distractors of its own. A distractor that is equal to the answer to the pixel (all
 * its panels, where they are chosen together) is drawn again. The first N_C - 1 of fifteen distractors
 * make the smaller sets of candidates. Candidates as near as the answer share the choice with it.
 *
 * It asks a model tens of thousands of questions, so threads answer them where there are cores to spare
 * (networks of this size gain nothing from threads of their own).
 */
import { availableParallelism } from 'node:os';
import { MATRIX_PANELS } from '../../matrix/index.js';
import { runPool } from '../../base/node.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import type { GsaPoint, GsaResult } from '../evaluation.js';
import type { Subject } from '../subject.js';
import { Bootstrap } from './bootstrap.js';
import type { GSA_WAYS } from './gsa-judge.js';
import {
  GSA_CANDIDATES,
  GSA_TARGETS,
  GsaJudge,
  type GsaCredits,
  type GsaProblems,
  type GsaSettings,
  type GsaTask,
} from './gsa-judge.js';
import type { GsaWorkerData } from './gsa-worker.js';
import type { StudiedProblems } from './studied-problems.js';

export { GSA_CANDIDATES, GSA_TARGETS } from './gsa-judge.js';

export interface GsaOptions {
  readonly repeats?: number;
  readonly seed?: number;
  /** Threads beside this one, as many as cores are left unless told; 0 works in this one. */
  readonly workers?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

const DEFAULT_SEED = 7_200_000_011;
/** Problems of a task: about a second of work. */
const AT_ONCE = 128;
/** Questions below which starting threads takes longer than asking. */
const WORTH_THREADS = 3000;

/** Problems in memory that threads share. */
function sharedProblems({ count, keys, means }: StudiedProblems, width: number): GsaProblems {
  const codes = new Int32Array(
    new SharedArrayBuffer(count * MATRIX_PANELS * Int32Array.BYTES_PER_ELEMENT),
  );
  const concepts = new Float32Array(
    new SharedArrayBuffer(count * MATRIX_PANELS * width * Float32Array.BYTES_PER_ELEMENT),
  );
  const known = new Map<string, number>();
  keys.forEach((panels, n) => {
    panels.forEach((key, i) => {
      const code = known.get(key) ?? known.size;
      known.set(key, code);
      const at = n * MATRIX_PANELS + i;
      codes[at] = code;
      means[n][i].forEach((values, m) => concepts.set(values, at * width + m * values.length));
    });
  });
  return { count, codes, concepts };
}

const tasksOf = (count: number): GsaTask[] =>
  GSA_TARGETS.flatMap((targets) =>
    Array.from({ length: Math.ceil(count / AT_ONCE) }, (_, i) => ({
      targets,
      first: i * AT_ONCE,
      count: Math.min(AT_ONCE, count - i * AT_ONCE),
    })),
  );

/** Credits of all tasks in their order, from threads or from this one. */
async function runTasks(
  subject: Pick<Subject, 'bundle' | 'solver' | 'statistics'>,
  problems: GsaProblems,
  settings: GsaSettings,
  tasks: readonly GsaTask[],
  { workers, signal, onProgress }: Pick<GsaOptions, 'workers' | 'signal' | 'onProgress'>,
): Promise<GsaCredits[]> {
  const { bundle, solver, statistics } = subject;
  const found: GsaCredits[] = [];
  const take = (credits: GsaCredits): void => {
    found.push(credits);
    onProgress?.(found.length / tasks.length);
  };
  const spare = problems.count * settings.repeats >= WORTH_THREADS ? availableParallelism() - 1 : 0;
  const threads = workers ?? spare;
  if (bundle === undefined || threads === 0) {
    const judge = new GsaJudge(solver, statistics, problems, settings);
    for (const task of tasks) {
      signal?.throwIfAborted();
      take(await judge.run(task, signal));
    }
    return found;
  }
  const workerData: GsaWorkerData = { bundle, problems, settings };
  await runPool<GsaTask, GsaCredits>({
    module: new URL('./gsa-worker.js', import.meta.url),
    workerData,
    workers: threads,
    tasks,
    onResult: take,
    signal,
  });
  return found;
}

/** GSA of a model on problems already encoded. */
export async function globalSelectionAccuracy(
  subject: Pick<Subject, 'bundle' | 'solver' | 'statistics'>,
  studied: StudiedProblems,
  options: GsaOptions = {},
): Promise<GsaResult> {
  const { repeats = DEFAULT_COUNTS.repeats, seed = DEFAULT_SEED } = options;
  const { concepts, conceptSize } = subject.solver.manifest.sizes;
  const problems = sharedProblems(studied, concepts * conceptSize);
  const tasks = tasksOf(studied.count);
  const found = await runTasks(subject, problems, { repeats, seed }, tasks, options);
  const bootstrap = new Bootstrap(studied.count);
  const points = GSA_TARGETS.flatMap((targets) =>
    pointsOf(
      targets,
      found.filter((_, i) => tasks[i].targets === targets),
      repeats,
      bootstrap,
    ),
  );
  return { problems: studied.problems, repeats, seed, points };
}

function pointsOf(
  targets: number,
  parts: readonly GsaCredits[],
  repeats: number,
  bootstrap: Bootstrap,
): GsaPoint[] {
  const share = (way: (typeof GSA_WAYS)[number], c: number, choices: number) =>
    bootstrap.share(
      parts.flatMap((credits) => Array.from(credits[way][c], (sum) => sum / choices)),
    );
  return GSA_CANDIDATES.map((candidates, c) => ({
    targets,
    candidates,
    accuracy: share('own', c, repeats),
    accuracyL2: share('l2', c, repeats),
    each: share('eachOwn', c, repeats * targets),
    eachL2: share('eachL2', c, repeats * targets),
  }));
}
