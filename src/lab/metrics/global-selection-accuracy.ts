/**
 * Global selection accuracy, GSA (section 4, "Metrics"; section 4.2, figure of GSA): how often the true
 * panels at random positions are nearest to the predicted ones, among panels at the same positions of
 * other problems. |T| = 1, 2, 3 missing panels and N_C = 2, 4, 8, 16 candidates.
 *
 * Several targets are chosen together, their squared distances added up, as the authors' code does; and
 * each by itself with distractors of its own. A distractor that is equal to the answer to the pixel (all
 * its panels, if they are chosen together) is drawn again. The first N_C - 1 of fifteen distractors
 * make the smaller sets of candidates. Candidates as near as the answer share the choice with it.
 *
 * It asks a model tens of thousands of questions, so threads answer them if there are cores to spare
 * (networks of this size gain nothing from threads of their own).
 */
import { availableParallelism } from 'node:os';
import { MATRIX_PANELS } from '../../matrix/index.js';
import { runPool } from '../../base/node.js';
import type { ConceptMeans } from '../../solver/index.js';
import { flat, withConcepts } from '../concept-subject.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import type { GsaPoint, GsaResult } from '../evaluation.js';
import { Bootstrap } from '../statistics.js';
import type { MetricOptions, Subject } from '../subject.js';
import { GSA_CANDIDATES, GSA_TARGETS, GsaJudge } from './gsa-judge.js';
import type { GsaCredits, GsaProblems, GsaSettings, GsaTask, GsaWay } from './gsa-judge.js';
import type { GsaWorkerData } from './gsa-worker.js';
import type { StudiedProblems } from './studied-problems.js';

export { GSA_CANDIDATES, GSA_TARGETS } from './gsa-judge.js';

export interface GsaOptions extends MetricOptions {
  readonly repeats?: number;
  /** Threads beside this one, as many as cores are left unless told; 0 works in this one. */
  readonly workers?: number;
}

const DEFAULT_SEED = 7_200_000_011;
/** Problems of a task: about a second of work. */
const AT_ONCE = 128;
/** Questions below which starting threads takes longer than asking. */
const WORTH_THREADS = 3000;

/** Numbers for panels, equal for those that are equal to the pixel. */
function codesOf(keys: StudiedProblems['keys']): Int32Array {
  const known = new Map<string, number>();
  return Int32Array.from(keys.flat(), (key) => {
    const code = known.get(key) ?? known.size;
    known.set(key, code);
    return code;
  });
}

/** Concepts of all panels in memory that threads share. */
function sharedConcepts({ count, panels }: StudiedProblems): Float32Array {
  const rows = (panels as readonly (readonly ConceptMeans[])[]).flat();
  const width = flat(rows[0]).length;
  const bytes = count * MATRIX_PANELS * width * Float32Array.BYTES_PER_ELEMENT;
  const shared = new Float32Array(new SharedArrayBuffer(bytes));
  rows.forEach((means, i) => shared.set(flat(means), i * width));
  return shared;
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
  subject: Subject,
  studied: StudiedProblems,
  settings: GsaSettings,
  tasks: readonly GsaTask[],
  { workers, signal, onProgress }: Pick<GsaOptions, 'workers' | 'signal' | 'onProgress'>,
): Promise<GsaCredits[]> {
  const found: GsaCredits[] = [];
  const take = (credits: GsaCredits): void => {
    found.push(credits);
    onProgress?.(found.length / tasks.length);
  };
  const problems = { count: studied.count, codes: codesOf(studied.keys) };
  const spare = studied.count * settings.repeats >= WORTH_THREADS ? availableParallelism() - 1 : 0;
  const threads = workers ?? spare;
  const bundle = withConcepts(subject)?.bundle;
  if (bundle === undefined || threads === 0) {
    const all: GsaProblems = { ...problems, panels: studied.panels };
    const judge = new GsaJudge(subject, all, settings);
    for (const task of tasks) {
      signal?.throwIfAborted();
      take(await judge.run(task, signal));
    }
    return found;
  }
  const workerData: GsaWorkerData = {
    bundle,
    problems,
    concepts: sharedConcepts(studied),
    settings,
  };
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

/** GSA of a model on problems already seen. */
export async function globalSelectionAccuracy(
  subject: Subject,
  studied: StudiedProblems,
  options: GsaOptions = {},
): Promise<GsaResult> {
  const { repeats = DEFAULT_COUNTS.repeats, seed = DEFAULT_SEED } = options;
  const tasks = tasksOf(studied.count);
  const found = await runTasks(subject, studied, { repeats, seed }, tasks, options);
  const bootstrap = new Bootstrap(studied.count);
  const points = GSA_TARGETS.flatMap((targets) => {
    const parts = found.filter((_, i) => tasks[i].targets === targets);
    return GSA_CANDIDATES.map((candidates, c): GsaPoint => {
      const share = (way: GsaWay, choices: number) =>
        bootstrap.share(
          parts.flatMap((credits) => Array.from(credits[way]?.[c] ?? [], (sum) => sum / choices)),
        );
      const optional = (key: 'accuracyL2' | 'each' | 'eachL2', way: GsaWay, choices: number) =>
        parts[0][way] === undefined ? {} : { [key]: share(way, choices) };
      return {
        targets,
        candidates,
        accuracy: share('own', repeats),
        ...optional('accuracyL2', 'l2', repeats),
        ...optional('each', 'eachOwn', repeats * targets),
        ...optional('eachL2', 'eachL2', repeats * targets),
      };
    });
  });
  return { problems: studied.problems, repeats, seed, points };
}
