/** A thread that judges GSA with a solver of its own: `global-selection-accuracy.ts` shares tasks out. */
import { workerData } from 'node:worker_threads';
import { serveTasks } from '../../base/node.js';
import type { Bundle } from '../../solver/index.js';
import { subjectOf } from '../subject.js';
import { GsaJudge, type GsaProblems, type GsaSettings, type GsaTask } from './gsa-judge.js';

export interface GsaWorkerData {
  readonly bundle: Bundle;
  readonly problems: GsaProblems;
  readonly settings: GsaSettings;
}

const { bundle, problems, settings } = workerData as GsaWorkerData;
const { solver, statistics } = await subjectOf(bundle, { threads: 1 });
const judge = new GsaJudge(solver, statistics, problems, settings);
serveTasks(async (task: GsaTask) => ({ result: await judge.run(task) }));
