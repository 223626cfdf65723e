/** A thread that judges GSA with a bundle of its own: `global-selection-accuracy.ts` shares tasks out. */
import { workerData } from 'node:worker_threads';
import { MATRIX_PANELS } from '../../matrix/index.js';
import { serveTasks } from '../../base/node.js';
import type { Bundle } from '../../solver/index.js';
import { subjectOf } from '../open-subject.js';
import { GsaJudge, type GsaProblems, type GsaSettings, type GsaTask } from './gsa-judge.js';

export interface GsaWorkerData {
  readonly bundle: Bundle;
  /** Concepts [count, 9, M, d_z], in memory that threads share. */
  readonly concepts: Float32Array;
  readonly problems: Omit<GsaProblems, 'panels'>;
  readonly settings: GsaSettings;
}

const { bundle, concepts, problems, settings } = workerData as GsaWorkerData;
const { concepts: m, conceptSize: size } = bundle.manifest.sizes;
const panels = Array.from({ length: problems.count }, (_, n) =>
  Array.from({ length: MATRIX_PANELS }, (_, i) => {
    const first = (n * MATRIX_PANELS + i) * m;
    return Array.from({ length: m }, (_, c) =>
      concepts.subarray((first + c) * size, (first + c + 1) * size),
    );
  }),
);
const subject = await subjectOf(bundle, { threads: 1 });
const judge = new GsaJudge(subject, { ...problems, panels }, settings);
serveTasks((task: GsaTask) => judge.run(task));
