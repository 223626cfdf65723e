/** Long training in a process of its own: resident memory stays flat after warm-up. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { compiledProgram } from '../compiled-program.js';
import { isTorchAvailable } from '../../src/torch/index.js';

const run = promisify(execFile);
const STEPS = process.env.CRAB_TEST_LONG === undefined ? 10_000 : 20_000;
const SCRIPT = compiledProgram('torch/fixtures/soak-child');

/** Resident memory over a run: of the first half after the warm-up, and of the second half. */
async function residentMemory(mode: string): Promise<{ early: number; late: number }> {
  const { stdout } = await run(process.execPath, [SCRIPT, String(STEPS), mode]);
  const samples = JSON.parse(stdout) as number[];
  const warm = samples.slice(Math.floor(samples.length / 3));
  const half = Math.floor(warm.length / 2);
  return { early: Math.max(...warm.slice(0, half)), late: Math.max(...warm.slice(half)) };
}

describe.skipIf(!isTorchAvailable())('soak', () => {
  test.each(['scoped', 'free'])(`${STEPS} steps of training, %s: flat within 5%`, async (mode) => {
    const { early, late } = await residentMemory(mode);
    expect(late).toBeLessThanOrEqual(early * 1.05);
  });
});
