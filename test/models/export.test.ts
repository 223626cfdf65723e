/** Exported networks against the model on libtorch: concepts, rules, pixels and choices agree. */
import { describe, expect, test } from 'vitest';
import {
  CONFIGURATIONS,
  joinBatches,
  problemToBatch,
  sampleProblem,
  type Configuration,
} from '../../src/matrix/index.js';
import {
  compactNetworks,
  CrabModel,
  contextTensor,
  crabConfig,
  exportNetworks,
  networkFiles,
  readNetworks,
} from '../../src/models/index.js';
import type { CrabConfig, PresetName, WeightFormat, WeightState } from '../../src/models/index.js';
import { usualAim } from '../../src/models/crab/export-compact.js';
import { decodeModel } from '../../src/models/onnx/schema.js';
import { memoryBundle, Solver } from '../../src/solver/node.js';
import {
  Generator,
  isTorchAvailable,
  noGrad,
  scope,
  tensor,
  type Tensor,
} from '../../src/torch/index.js';
import { randomBundle, randomState, tinyConfig } from '../solver/random-model.js';

const PROBLEMS = process.env.CRAB_TEST_LONG ? 200 : 40;
const TOLERANCE = 1e-4;

function torchModel(config: CrabConfig, state: WeightState): CrabModel {
  const model = new CrabModel(config.network, { generator: new Generator('cpu', 0) });
  const tensors = new Map<string, Tensor>();
  for (const [name, { data, shape }] of state) {
    tensors.set(name, tensor(data, { dtype: 'f32' }).reshape([...shape]));
  }
  for (const [name, value] of model.stateDict()) {
    if (name.endsWith('num_batches_tracked')) tensors.set(name, value);
  }
  model.loadStateDict(tensors);
  return model.eval();
}

/** Panels f32 [N, 9, 64, 64] and candidates [N, 8, 64, 64] of generated problems. */
function problems(configuration: Configuration, count: number) {
  const drawn = Array.from({ length: count }, (_, index) =>
    problemToBatch(sampleProblem({ configuration, seed: 5, index })),
  );
  const { panel, selection } = joinBatches(drawn);
  const floats = (bytes: Uint8Array) => Float32Array.from(bytes, (byte) => byte / 255);
  return { panels: floats(panel), candidates: floats(selection) };
}

const rows = (values: Float32Array, count: number): Float32Array[] =>
  Array.from({ length: count }, (_, i) => {
    const width = values.length / count;
    return values.slice(i * width, (i + 1) * width);
  });

/** Different missing sets for each problem, 0-based. */
const missingOf = (n: number): number[] =>
  n % 3 === 0 ? [8] : Array.from({ length: 1 + (n % 8) }, (_, i) => (n + 2 * i) % 9);

const unique = (list: readonly number[]): number[] => [...new Set(list)].sort((a, b) => a - b);

function largestGap(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i] - b[i]));
  return most;
}

async function checkParity(config: CrabConfig, count: number): Promise<void> {
  const model = torchModel(config, randomState(config.network));
  const { manifest, files } = randomBundle(config);
  const solver = await Solver.open(await memoryBundle(manifest, files));
  const { panels, candidates } = problems(config.configuration, count);
  const missing = Array.from({ length: count }, (_, n) => unique(missingOf(n)));
  const images = rows(panels, count * 9);
  const answers = await solver.solveAll(
    missing.map((positions, n) => ({
      panels: images.slice(n * 9, n * 9 + 9),
      missing: positions.map((at) => at + 1),
    })),
  );
  const last = await solver.solveAll(
    missing.map((_, n) => ({ panels: images.slice(n * 9, n * 9 + 9) })),
    { images: false },
  );
  const offered = rows(candidates, count * 8);
  const choices = await solver.chooseAll(
    last.map((answer, n) => ({ answer, candidates: offered.slice(n * 8, n * 8 + 8) })),
    { distance: 'l2' },
  );
  await solver.dispose();
  scope(() =>
    noGrad(() => {
      const given = tensor(panels, { dtype: 'f32' }).reshape([count, 9, 64, 64]);
      const means = model.encode(given); // [M, N, 9, d_z]
      const { parsed, predicted } = model.reason(means, contextTensor(missing, 'cpu'));
      const concepts = means.permute([1, 2, 0, 3]).toArray(); // [N, 9, M, d_z]
      const guessed = predicted.squeeze(1).permute([1, 2, 0, 3]).toArray();
      const drawn = model.decode(predicted.squeeze(1)).toArray(); // [N, 9, 64, 64]
      const rule = parsed.mean.squeeze(1).permute([1, 0, 2]).toArray(); // [N, M, d_r]
      const deviation = parsed.deviation.squeeze(1).permute([1, 0, 2]).toArray();
      const width = concepts.length / (count * 9);
      // Agreement means something only where the values differ between panels.
      expect(means.std(1).mean().item()).toBeGreaterThan(0.02);
      expect(predicted.std(2).mean().item()).toBeGreaterThan(0.002);
      const ruleWidth = rule.length / count;
      answers.forEach((answer, n) => {
        answer.concepts.forEach((own, position) => {
          const isMissing = missing[n].includes(position);
          const from = (n * 9 + position) * width;
          const expected = (isMissing ? guessed : concepts).slice(from, from + width);
          expect(
            largestGap(
              own.flatMap((values) => [...values]),
              expected,
            ),
          ).toBeLessThan(TOLERANCE);
        });
        missing[n].forEach((position, t) => {
          const from = (n * 9 + position) * 4096;
          expect(largestGap(answer.images[t], drawn.slice(from, from + 4096))).toBeLessThan(
            TOLERANCE,
          );
        });
        const part = (all: typeof rule) => all.slice(n * ruleWidth, (n + 1) * ruleWidth);
        expect(
          largestGap(
            answer.rules.flatMap((r) => r.parsed),
            part(rule),
          ),
        ).toBeLessThan(TOLERANCE);
        expect(
          largestGap(
            answer.rules.flatMap((r) => r.deviation),
            part(deviation),
          ),
        ).toBeLessThan(TOLERANCE);
      });
      const last = Array.from({ length: count }, () => [8]);
      const offered = tensor(candidates, { dtype: 'f32' }).reshape([count, 8, 1, 64, 64]);
      const chosen = model.score(given, last, offered).argmax(1).toArray();
      expect(choices.map(({ index }) => index)).toEqual(chosen);
    }),
  );
  model.dispose();
}

describe.skipIf(!isTorchAvailable())('solver and torch agree', () => {
  for (const configuration of CONFIGURATIONS) {
    test(`on ${PROBLEMS} problems of ${configuration}`, async () => {
      await checkParity(tinyConfig(configuration), PROBLEMS);
    });
  }

  // Real widths: with all problems where there is time, with a few otherwise.
  for (const configuration of process.env.CRAB_TEST_LONG ? CONFIGURATIONS : ['center' as const]) {
    test(`for networks as wide as the preset small has them, ${configuration}`, async () => {
      await checkParity(crabConfig('small', configuration), process.env.CRAB_TEST_LONG ? 200 : 6);
    }, 600_000);
  }

  test('for any other widths', async () => {
    const widths = { pairFeatures: 3, relationHidden: [17], targetHidden: [5, 9], conceptSize: 7 };
    await checkParity(tinyConfig('left-right', 'crab', widths), 6);
  });

  for (const preset of ['paper', 'released', 'small'] as const satisfies PresetName[]) {
    test(`for the networks of the preset ${preset}`, async () => {
      await checkParity(tinyConfig('center', preset), 6);
    });
  }
});

describe('stored formats', () => {
  const config = tinyConfig('center', 'crab', {
    encoder: [8, 8, 16, 16, 32],
    pairHidden: [32, 32],
    relationHidden: [48, 24],
    targetHidden: [24, 24, 24],
  });
  const state = randomState(config.network);
  const { panels } = problems('center', 4);
  const images = rows(panels, 36);

  async function concepts(files: ReturnType<typeof exportNetworks>): Promise<Float32Array> {
    const { manifest, files: others } = randomBundle(config);
    others.set('encoder.onnx', files.encoder);
    others.set('reasoner.onnx', files.reasoner);
    others.set('decoder.onnx', files.decoder);
    const solver = await Solver.open(await memoryBundle(manifest, others));
    const answers = await solver.solveAll(
      [0, 1, 2, 3].map((n) => ({ panels: images.slice(9 * n, 9 * n + 9), missing: [9, 2] })),
    );
    await solver.dispose();
    const values = answers.flatMap(({ concepts: all, rules, images: drawn }) => [
      ...all.flat().flatMap((means) => [...means]),
      ...rules.flatMap((rule) => rule.vector),
      ...drawn.flatMap((image) => [...image]),
    ]);
    return Float32Array.from(values);
  }

  /** Root of the mean squared difference, in units of the spread of the exact values. */
  function relativeError(exact: Float32Array, other: Float32Array): number {
    const mean = exact.reduce((sum, value) => sum + value, 0) / exact.length;
    const spread = exact.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const error = exact.reduce((sum, value, i) => sum + (value - other[i]) ** 2, 0);
    return Math.sqrt(error / spread);
  }

  test('f16 and int8 weights change results little, and files are smaller', async () => {
    const exact = exportNetworks(config.network, state);
    const half = exportNetworks(config.network, state, 'f16');
    const bytes = exportNetworks(config.network, state, 'int8');
    const reference = await concepts(exact);
    expect(relativeError(reference, await concepts(half))).toBeLessThan(2e-3);
    expect(relativeError(reference, await concepts(bytes))).toBeLessThan(5e-2);
    expect(half.reasoner.length).toBeLessThan(0.75 * exact.reasoner.length);
    expect(bytes.reasoner.length).toBeLessThan(half.reasoner.length);
  });

  test('factored networks keep to the size asked for and to the results', async () => {
    const networks = readNetworks(config.network, state);
    const options = { configuration: 'center', noisy: false, problems: 64, smallest: 500 } as const;
    const reference = await concepts(networkFiles(networks, 'f32'));
    // Bytes of weights: all fit in the first, nothing that may be lost makes the last possible.
    const results: { bytes: number; error: number }[] = [];
    for (const aim of [1e9, 130_000, 100_000, 20_000]) {
      const compact = await compactNetworks(networks, { ...options, aim, limit: aim });
      const { encoder, reasoner, decoder } = networkFiles(compact, 'int8');
      const bytes = encoder.length + reasoner.length + decoder.length;
      const error = relativeError(reference, await concepts(networkFiles(compact, 'f32')));
      results.push({ bytes, error });
    }
    const [ample, large, small, least] = results;
    expect(ample.error).toBe(0);
    expect(large.bytes).toBeLessThan(ample.bytes);
    expect(large.error).toBeLessThan(2e-2);
    // 30,000 bytes fewer but for the larger number of nodes.
    expect(small.bytes).toBeLessThan(large.bytes - 25_000);
    expect(small.error).toBeLessThan(3e-2);
    expect(least.bytes).toBeLessThan(small.bytes);
    expect(least.error).toBeLessThan(1e-1);
  });

  test('of one-byte networks the outer factor of the dense layer has two', async () => {
    const networks = readNetworks(config.network, state);
    const options = { configuration: 'center', noisy: false, problems: 64, smallest: 500 } as const;
    const compact = await compactNetworks(networks, { ...options, aim: 20_000, limit: 20_000 });
    expect(compact.encoder.whole.weights).toHaveLength(2);
    const storedIn = (format: WeightFormat): (string | undefined)[] =>
      decodeModel(networkFiles(compact, format).encoder)
        .graph.initializer.map(({ name }) => name)
        .filter((name) => /^whole\..*weight/.test(name));
    expect(storedIn('int8')).toEqual([
      'whole.inner.weight.i8',
      'whole.inner.weight.scale',
      'whole.weight.f16',
    ]);
    expect(storedIn('f32')).toEqual(['whole.inner.weight', 'whole.weight']);
  });

  test('the size aimed at is a share of the weights, more of grid-3x3, and has an end', () => {
    expect(usualAim('center', 4_000_000)).toBe(2_480_000);
    expect(usualAim('grid-3x3', 4_000_000)).toBe(7_000_000);
    expect(usualAim('left-right', 20_000_000)).toBe(5_900_000);
  });

  test('a checkpoint that does not fit its configuration is refused', () => {
    const without = new Map(state);
    without.delete('encoder.head.bias');
    expect(() => exportNetworks(config.network, without)).toThrow(/no tensor encoder.head.bias/);
    const wrong = new Map(state);
    wrong.set('encoder.head.bias', { data: new Float32Array(3), shape: [3] });
    expect(() => exportNetworks(config.network, wrong)).toThrow(/encoder.head.bias is \[3\]/);
    const infinite = new Map(state);
    const bias = state.get('encoder.head.bias');
    infinite.set('encoder.head.bias', {
      shape: bias?.shape ?? [],
      data: (bias?.data ?? new Float32Array()).map(() => NaN),
    });
    expect(() => exportNetworks(config.network, infinite)).toThrow(/not finite/);
    expect(() => exportNetworks(config.network, new Map())).toThrow(/no weights/);
  });
});
