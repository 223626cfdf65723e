/** Tiny trainings on several ranks, each a process of its own. */
import { afterEach } from 'vitest';
import { compiledProgram } from '../compiled-program.js';
import { endRanks, startAlone, startRanks, type Rank, type RankOptions } from '../torch/ranks.js';
import type { ChildSpec } from './parallel-child.js';

const CHILD = compiledProgram('training/parallel-child');

/** Starts trainings; what is left of their ranks is ended after each test of the file. */
export function rankStarter(): (
  spec: ChildSpec,
  size: number,
  options?: RankOptions,
) => Promise<Rank[]> {
  let running: Rank[] = [];
  afterEach(async () => {
    await endRanks(running);
    running = [];
  });
  return async (spec, size, options) => {
    const ranks =
      size === 1 ? [startAlone(CHILD, spec)] : await startRanks(CHILD, spec, size, options);
    running.push(...ranks);
    return ranks;
  };
}
