/** The smallest system, from its first step to an answer: what holds for it holds for every other. */
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { systemNamed, type SystemConfig } from '../../src/models/index.js';
import { Generator, isTorchAvailable, noGrad, ones, scope, tensor } from '../../src/torch/index.js';
import { openRun, train, type NewRunOptions } from '../../src/training/index.js';
import { batchOf, makeRecord, recordLayout } from '../../src/training/feed/record.js';
import { derivedSeed, STREAM } from '../../src/base/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { contentOf } from '../training/run-files.js';

const PROBLEMS = 24;
const SEED = 5;
const cnn = systemNamed('cnn');

const config = (overrides: object = {}): SystemConfig =>
  cnn.config('paper', 'center', {
    overrides: {
      data: { problems: PROBLEMS },
      network: { channels: 8, hidden: 64 },
      optimizer: {
        batchSize: 8,
        learningRate: { unit: 'steps', shape: 'linear', points: [[0, 3e-3]] },
      },
      ...overrides,
    },
  });

const settings = (out: string): NewRunOptions => ({
  out,
  system: 'cnn',
  model: config(),
  budget: { kind: 'steps', steps: 90 },
  seed: SEED,
  threads: 1,
  logEvery: 10,
  validation: { every: 30, problems: 10 },
  checkpoints: { seconds: 1e6, steps: 30 },
});

describe('the settings of CNN', () => {
  test('are those of its paper, and unknown keys are errors', () => {
    expect(cnn.config('paper', 'grid-3x3')).toMatchObject({
      network: { channels: 32, hidden: 512, dropout: 0.5 },
      optimizer: { algorithm: 'adam', batchSize: 32 },
    });
    expect(cnn.needs(cnn.config('paper', 'center'))).toEqual({
      imageSize: 80,
      candidates: 'raven',
      rules: false,
      problems: 6000,
    });
    expect(cnn.needs(cnn.config('endless', 'center')).problems).toBeNull();
    expect(() => config({ network: { width: 3 } })).toThrow(/unknown key "width"/);
    expect(() => cnn.config('paper', 'center', { noisy: true })).toThrow(/no noisy form/);
  });
});

describe.skipIf(!isTorchAvailable())('CNN', () => {
  let run: string;
  beforeAll(async () => {
    run = path.join(scratchFolder(), 'whole');
    await train({ ...settings(run), workers: 1 });
  }, 600_000);

  test('has the size of its specification', () => {
    scope(() => {
      const model = cnn.create(cnn.config('paper', 'center'), {
        generator: new Generator('cpu', 1),
      });
      expect(model.parameterCount()).toBeCloseTo(300_000, -4);
      model.dispose();
    });
  });

  test('learns a few problems by heart, and the weights on disk know them', async () => {
    const { model, step, dispose } = await (await openRun(run)).loadModel('latest');
    expect(step).toBe(90);
    const layout = recordLayout(cnn.needs(config()));
    const bytes = new Uint8Array(PROBLEMS * layout.bytes);
    const seed = derivedSeed(SEED, STREAM.problems);
    for (let n = 0; n < PROBLEMS; n++) {
      const source = { configuration: 'center', noisy: false, seed } as const;
      makeRecord(layout, source, n, bytes, n * layout.bytes);
    }
    const right = noGrad(() =>
      scope(() => {
        const rows = tensor(bytes, { shape: [PROBLEMS, layout.bytes] });
        const { panels, choice } = batchOf(layout, rows, 'f32');
        if (choice === null) throw new Error('no candidates');
        const missing = Array.from({ length: PROBLEMS }, () => [8]);
        const scores = model.score(panels, missing, choice.candidates.unsqueeze(2));
        return scores.argmax(1).eq(choice.answer).sum().item();
      }),
    );
    dispose();
    expect(right / PROBLEMS).toBeGreaterThanOrEqual(0.95);
  });

  test('stopped and continued, it is the same bit by bit, dropout included', async () => {
    const resumed = path.join(scratchFolder(), 'resumed');
    const stop = new AbortController();
    const watching = { checkpoint: () => stop.abort() };
    const first = await train({ ...settings(resumed), workers: 1 }, watching, stop.signal);
    expect(first.finished).toBe(false);
    expect((await train({ resume: resumed, workers: 1 })).finished).toBe(true);
    expect(await contentOf(resumed)).toEqual(await contentOf(run));
  });

  test('answers for the ninth panel alone', async () => {
    const { model, dispose } = await (await openRun(run)).loadModel('latest');
    scope(() => {
      const [panels, candidates] = [ones([1, 9, 80, 80]), ones([1, 8, 1, 80, 80])];
      expect(() => model.score(panels, [[0]], candidates)).toThrow(/the ninth panel alone/);
      expect(model.impute).toBeUndefined();
    });
    dispose();
  });
});
