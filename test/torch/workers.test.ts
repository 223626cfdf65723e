/** Two worker threads with tensors of their own, beside the main thread. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { isGradEnabled, isTorchAvailable, noGrad } from '../../src/torch/index.js';
import { compiledProgram } from '../compiled-program.js';
import { train } from './fixtures/small-network.js';

interface Message {
  losses: number[];
  threw: string | null;
  gradEnabled: boolean;
}

const STEPS = 200;

async function trainInWorker(seed: number): Promise<Message> {
  const file = compiledProgram('torch/fixtures/train-worker-child');
  const worker = new Worker(file, { workerData: { seed, steps: STEPS } });
  const [message] = (await once(worker, 'message')) as [Message];
  await worker.terminate();
  return message;
}

describe.skipIf(!isTorchAvailable())('worker threads', () => {
  test('two train at once as one alone would, and fail with the same words', async () => {
    const running = Promise.all([trainInWorker(1), trainInWorker(2)]);
    const here = train(1, STEPS);
    const [first, second] = await running;
    expect(first.losses).toEqual(here);
    expect(second.losses).toEqual(train(2, STEPS));
    expect(first.losses).not.toEqual(second.losses);
    expect(first.threw).toBe('matmul: [2] x [3]: 2 ≠ 3');
  });

  test('modes of one thread are not those of another', async () => {
    const message = await noGrad(() => [trainInWorker(3)])[0];
    expect(message.gradEnabled).toBe(true);
    expect(isGradEnabled()).toBe(true);
  });

  test('a thread that is stopped in the middle of its work takes nothing down', async () => {
    const file = compiledProgram('torch/fixtures/train-worker-child');
    const worker = new Worker(file, { workerData: { seed: 1, steps: 1e9 } });
    await once(worker, 'online');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await worker.terminate();
    expect(train(1, 2)).toHaveLength(2);
  });
});
