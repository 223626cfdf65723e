/** A bundle of another system than CRAB: a small Transformer, trained, exported and asked in Node. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import {
  evaluateModel,
  exportRun,
  generatedSource,
  openRunSubject,
  openSubject,
} from '../../src/lab/index.js';
import { panelsOf, sampleProblem } from '../../src/matrix/index.js';
import { writeRavenProblem } from '../../src/matrix/node.js';
import { readWeightState, systemNamed } from '../../src/models/index.js';
import { decodeModel } from '../../src/models/onnx/schema.js';
import {
  compactTransformer,
  readTransformer,
  transformerFiles,
} from '../../src/models/transformer/export.js';
import { memoryBundle, parseManifest, Solver } from '../../src/solver/node.js';
import { isTorchAvailable, noGrad, scope, tensor } from '../../src/torch/index.js';
import { openRun, train } from '../../src/training/index.js';
import { crabInProcess as crab, failureOf } from '../cli/crab-in-process.js';
import { crab as crabProcess } from '../cli/run-crab.js';
import { checkOnnxFiles, HAS_CHECKER } from '../models/onnx-checker.js';
import { scratchPlaces } from '../scratch-folder.js';

const file = scratchPlaces();
const run = file('run');
const PROBLEMS = 12;
const TOLERANCE = 1e-4;

const config = systemNamed('transformer').config('ours', 'center', {
  overrides: {
    network: {
      coder: { encoder: [8, 8, 16, 16, 32], decoder: [8, 8, 4, 4, 4] },
      width: 24,
      blocks: 2,
      heads: 3,
      hidden: 32,
    },
    optimizer: { batchSize: 16 },
  },
});

const problemAt = (index: number) =>
  sampleProblem({ configuration: 'center', noisy: false, variant: 'raven', seed: 9, index });

/** Whole matrices with candidates, of which one or two panels are asked for. */
const questions = Array.from({ length: PROBLEMS }, (_, index) => {
  const { panels, candidates, answer } = panelsOf(problemAt(index));
  return {
    panels: panels.map((panel) => panel ?? candidates[answer]),
    candidates,
    missing: index % 2 === 0 ? [9] : [1 + (index % 3), 4 + (index % 5)],
  };
});

const pixels = (pictures: readonly Uint8Array[], shape: number[]) =>
  tensor(
    Float32Array.from(
      pictures.flatMap((each) => [...each]),
      (byte) => byte / 255,
    ),
    { dtype: 'f32' },
  ).reshape(shape);

const largestGap = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i])));

describe.skipIf(!isTorchAvailable())('a bundle of a Transformer', () => {
  beforeAll(async () => {
    await train({
      out: run,
      system: 'transformer',
      model: config,
      budget: { kind: 'steps', steps: 60 },
      seed: 3,
      pool: 48,
      refresh: 3,
      threads: 1,
      workers: 1,
      logEvery: 20,
      validation: { every: 30, problems: 10 },
    });
    const sizes = { problems: 64, judged: 8 };
    await exportRun({ run, out: file('plain'), ...sizes });
    await exportRun({ run, out: file('compact'), compact: true, ...sizes });
  });

  test('says what it is, and has no more than a Transformer has', async () => {
    const manifest = parseManifest(readFileSync(file('plain/bundle.json')));
    expect(manifest).toMatchObject({
      system: 'transformer',
      name: 'center',
      sizes: { concepts: 1, conceptSize: 24, ruleSize: 0 },
      conceptNames: [null],
    });
    expect(Object.keys(manifest.files).sort()).toEqual([
      'decoder.onnx',
      'encoder.onnx',
      'history.json',
      'reasoner.onnx',
      'selection.safetensors',
    ]);
    const solver = await Solver.load(file('plain'));
    expect([solver.ruleMap, solver.vocabulary]).toEqual([null, null]);
    expect(solver.metrics).not.toBeNull();
    await solver.dispose();
  });

  test('imagines and scores as the run does', async () => {
    const solver = await Solver.load(file('plain'));
    const answers = await solver.solveAll(questions);
    const choices = await solver.chooseAll(
      answers.map((answer, n) => ({
        answer,
        candidates: questions[n].candidates.map((each) => answer.missing.map(() => each)),
      })),
      { distance: 'l2' },
    );
    await solver.dispose();
    const trained = await (await openRun(run)).loadModel('best');
    const { model } = trained;
    scope(() =>
      noGrad(() => {
        questions.forEach(({ panels, missing, candidates }, n) => {
          const matrix = pixels(panels, [1, 9, 64, 64]);
          const absent = [missing.map((position) => position - 1)];
          const painted = model.impute?.(matrix, absent).toArray() ?? [];
          answers[n].images.forEach((image, t) => {
            const from = (missing[t] - 1) * 4096;
            expect(largestGap(image, painted.slice(from, from + 4096))).toBeLessThan(TOLERANCE);
          });
          const offered = pixels(candidates, [1, 8, 1, 64, 64]);
          const scores = model
            .score(matrix, absent, offered.expand([1, 8, missing.length, 64, 64]))
            .toArray();
          const found = choices[n].candidates.map(({ l2 }) => -l2);
          const scale = Math.max(...scores.map(Math.abs));
          expect(largestGap(found, scores)).toBeLessThan(TOLERANCE * scale);
          expect(choices[n].index).toBe(scores.indexOf(Math.max(...scores)));
          expect(answers[n].rules).toEqual([]);
        });
      }),
    );
    trained.dispose();
  });

  test('its accuracy is that of the run, by its own distance and by L2', async () => {
    const source = generatedSource(
      { configuration: 'center', noisy: false, variant: 'raven', seed: 5 },
      40,
    );
    const [ours, theirs] = [
      await openRunSubject(run, { calibration: { problems: 64 } }),
      await openSubject(file('plain')),
    ];
    expect(theirs.facts).toMatchObject({
      system: 'transformer',
      can: ['impute'],
      positions: 'any',
    });
    const measured = await Promise.all(
      [ours, theirs].map(async (subject) => {
        const { selection, gsa } = await evaluateModel(subject, {
          model: 'x',
          data: [{ source, variant: 'raven' }],
          metrics: ['sa', 'gsa'],
          problems: 40,
          repeats: 1,
        });
        const points = gsa?.points.flatMap((point) => [point.accuracy, point.accuracyL2]) ?? [];
        return [selection?.[0].sa, selection?.[0].saL2, ...points];
      }),
    );
    await ours.dispose();
    await theirs.dispose();
    expect(measured[0].length).toBeGreaterThan(4);
    // Of candidates that are nearly equally near, rounding may decide otherwise on other processors.
    measured[0].forEach((share, i) => {
      expect(Math.abs((share?.value ?? NaN) - (measured[1][i]?.value ?? NaN))).toBeLessThan(0.06);
    });
  });

  test('a missing panel never enters, whatever stands there', async () => {
    const solver = await Solver.load(file('plain'));
    const [{ panels }] = questions;
    const black = panels.map((panel, i) => (i === 4 ? new Uint8Array(4096) : panel));
    const [plain, changed, seen] = await Promise.all([
      solver.solve(panels, { missing: [5] }),
      solver.solve(black, { missing: [5] }),
      solver.solve(black, { missing: [9] }),
    ]);
    expect(changed.images).toEqual(plain.images);
    expect(largestGap(seen.concepts[8][0], plain.concepts[8][0])).toBeGreaterThan(0);
    await solver.dispose();
  });

  test('what only concepts and rules make possible is refused in one sentence', async () => {
    const solver = await Solver.load(file('plain'));
    const [{ panels }] = questions;
    const answer = await solver.solve(panels);
    expect(solver.nameRules(answer)).toBeNull();
    await expect(solver.solve(panels, { rules: { 1: [0, 1] } })).rejects.toThrow(
      'rules: a model of transformer has none, so none can be imposed',
    );
    await expect(solver.sample(panels, { count: 2, seed: 1 })).rejects.toThrow(
      'a model of transformer has no concepts and no rules: it has one answer only',
    );
    await expect(solver.parseRules([answer.concepts])).rejects.toThrow('it parses none');
    await expect(solver.interpolate('Size', panels[0], panels[1], 3)).rejects.toThrow(
      'no concept can be changed alone',
    );
    await expect(solver.alternatives(answer, 2)).rejects.toThrow('no vocabulary');
    await solver.dispose();
  });

  test('compact, it has one byte a weight and chooses nearly alike', async () => {
    const [plain, compact] = await Promise.all(
      ['plain', 'compact'].map((name) => Solver.load(file(name))),
    );
    const chosen = await Promise.all(
      [plain, compact].map(async (solver) => {
        const answers = await solver.solveAll(questions, { images: false });
        const asked = answers.map((answer, n) => ({
          answer,
          candidates: questions[n].candidates.map((each) => answer.missing.map(() => each)),
        }));
        return (await solver.chooseAll(asked, { distance: 'l2' })).map(({ index }) => index);
      }),
    );
    expect(compact.manifest).toMatchObject({ weights: 'int8', compact: true });
    const same = chosen[0].filter((index, n) => index === chosen[1][n]);
    expect(same.length / PROBLEMS).toBeGreaterThan(0.7);
    await plain.dispose();
    await compact.dispose();
  });

  test('if the weights do not fit, the largest layer of the encoder is factored', async () => {
    const weights = await (await openRun(run)).weights('best');
    const network = config as unknown as { network: Parameters<typeof readTransformer>[0] };
    const networks = readTransformer(
      network.network,
      readWeightState(weights.file, weights.prefix),
    );
    const options = { configuration: 'center', noisy: false, problems: 32, smallest: 500 } as const;
    const small = await compactTransformer(networks, { ...options, aim: 20_000 });
    expect(small.encoder.whole.weights).toHaveLength(2);
    expect(small.blocks).toEqual(networks.blocks);
    // How much smaller depends on what so short a training made of the weights.
    const weightsOf = ({ encoder }: typeof networks): number =>
      encoder.whole.weights.reduce((sum, { data }) => sum + data.length, 0);
    expect(weightsOf(small)).toBeLessThan(weightsOf(networks));
    const { manifest, files } = await readBundle(file('plain'));
    const shrunk = transformerFiles(small, 'f32');
    const changed = await Solver.open(
      await memoryBundle(manifest, new Map([...files, ['encoder.onnx', shrunk.encoder]])),
    );
    const plain = await Solver.load(file('plain'));
    const [a, b] = await Promise.all(
      [plain, changed].map((solver) => solver.encode(questions[0].panels)),
    );
    const [exact, other] = [a, b].map((all) => all.flatMap(([values]) => [...values]));
    const mean = exact.reduce((sum, value) => sum + value / exact.length, 0);
    const spread = exact.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const error = exact.reduce((sum, value, i) => sum + (value - other[i]) ** 2, 0);
    expect(error / spread).toBeLessThan(5e-2);
    expect(error).toBeGreaterThan(0);
    await plain.dispose();
    await changed.dispose();
  });

  test('its graphs have only operators that are checked for, and no rules', () => {
    const { graph } = decodeModel(readFileSync(file('plain/reasoner.onnx')));
    expect(graph.input.map(({ name }) => name)).toEqual(['concepts', 'mask']);
    expect(graph.output.map(({ name }) => name)).toEqual(['predicted']);
  });

  test.skipIf(!HAS_CHECKER)("ONNX's full checker accepts its files", () => {
    const parts = ['encoder', 'reasoner', 'decoder'];
    checkOnnxFiles(
      ['plain', 'compact'].flatMap((of) => parts.map((part) => file(`${of}/${part}.onnx`))),
    );
  });

  test('on WebAssembly, as in a browser, it chooses alike', async () => {
    await writeRavenProblem(file(), 1, problemAt(1));
    const problem = file('center_single/RAVEN_1_train.npz');
    const asked = ['solve', problem, '--model', file('compact'), '--json'];
    const choices: { choice: { candidates: { l2: number }[] } }[] = [];
    for (const runtime of ['native', 'wasm']) {
      vi.stubEnv('CRAB_ONNX_RUNTIME', runtime);
      const { stdout, stderr } = await crabProcess(asked);
      expect(stderr).toBe('');
      choices.push(JSON.parse(stdout) as (typeof choices)[number]);
    }
    vi.unstubAllEnvs();
    const [native, wasm] = choices.map(({ choice }) => choice.candidates.map(({ l2 }) => l2));
    expect(native).toHaveLength(8);
    expect(largestGap(native, wasm)).toBeLessThan(TOLERANCE * Math.max(...native));
  });

  test('crab solve and crab evaluate take it', async () => {
    await writeRavenProblem(file(), 0, problemAt(0));
    const problem = file('center_single/RAVEN_0_train.npz');
    const told = await crab('solve', problem, '--model', file('compact'), '--explain');
    expect(told).toMatch(/^imagined panel 9\ncandidate [1-8] \(/);
    expect(told).not.toContain('concept');
    const json = JSON.parse(
      await crab('solve', problem, '--model', file('compact'), '--json'),
    ) as Record<string, unknown>;
    expect(json).toMatchObject({ rules: [], named: null, symbols: null });
    const { message } = await failureOf(
      'solve',
      problem,
      '--model',
      file('plain'),
      '--answers',
      '3',
    );
    expect(message).toContain('no vocabulary');
    const evaluated = JSON.parse(
      await crab(
        'evaluate',
        '--model',
        file('plain'),
        '--problems',
        '64',
        '--metrics',
        'sa,gsa',
        '--json',
        '--quiet',
      ),
    ) as Record<string, unknown>;
    expect(evaluated).toMatchObject({ system: 'transformer' });
  });

  test('a bundle of a system that is not known is refused in one sentence', async () => {
    const { manifest } = await readBundle(file('plain'));
    const text = JSON.stringify({ ...manifest, system: 'scl' });
    writeFileSync(file('unknown.json'), text);
    expect(() => parseManifest(readFileSync(file('unknown.json')))).toThrow(
      'bundle.json: system: this program opens models of crab and transformer, not of "scl"',
    );
  });
});

/** The manifest and the files of a bundle. */
async function readBundle(place: string) {
  const manifest = parseManifest(readFileSync(path.join(place, 'bundle.json')));
  const names = Object.keys(manifest.files) as (keyof typeof manifest.files)[];
  const files = new Map(
    names.map((name) => [name, new Uint8Array(readFileSync(path.join(place, name)))]),
  );
  return Promise.resolve({ manifest, files });
}
