/** Whole evaluations, `crab evaluate` and what `crab export` adds to a bundle. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseSourceRules } from '../../src/lab/bundle-rules.js';
import { picturesOf } from '../../src/lab/concept-subject.js';
import { bundleNames } from '../../src/lab/export-run.js';
import {
  evaluateModel,
  exportRun,
  generatedSource,
  globalSelectionAccuracy,
  METRIC_NAMES,
  openBundleSubject,
  openSubject,
  studyProblems,
  summaryText,
  variantOf,
  type ModelEvaluation,
  type Subject,
} from '../../src/lab/index.js';
import {
  CONFIGURATIONS,
  encodeSet,
  layoutOf,
  problemToBatch,
  samplePanels,
  sampleProblem,
  type Configuration,
} from '../../src/matrix/index.js';
import { drawPanels } from '../../src/lab/metrics/generated-source.js';
import { configurationsOfLabels, writeRavenProblem } from '../../src/matrix/node.js';
import { writeBundle } from '../../src/solver/node.js';
import { randomBundle, tinyConfig } from '../solver/random-model.js';
import { scratchPlaces } from '../scratch-folder.js';
import { crabInProcess as crab } from '../cli/crab-in-process.js';
import { makeRun } from '../solver/made-run.js';
import { madeUpThinker, subjectOfThinker } from './made-up.js';
import { words } from '../cli/words.js';

const file = scratchPlaces();
const REFERENCE = fileURLToPath(
  new URL('../../../shared/reference/files/raven/center_single', import.meta.url),
);

beforeAll(async () => {
  const { manifest, files } = randomBundle(tinyConfig());
  await writeBundle(file('bundle'), manifest, files);
  for (const index of [8, 9]) {
    const problem = sampleProblem({ configuration: 'center', seed: 2, index });
    await writeRavenProblem(file('others'), index, problem);
  }
  const problem = sampleProblem({ configuration: 'center', seed: 2, index: 3 });
  // As another program writes it: only the name tells how candidates were made.
  const foreign = { ...problemToBatch(problem), variant: undefined };
  writeFileSync(file('iraven_one.npz'), encodeSet(foreign));
});

const SMALL = { problems: 40, repeats: 1, panels: 64, pictures: 6 };

describe('an evaluation', () => {
  const evaluate = async (signal?: AbortSignal, seen: string[] = []): Promise<ModelEvaluation> => {
    const subject = await openSubject(file('bundle'));
    const request = { configuration: 'center', noisy: false, variant: 'raven', seed: 5 } as const;
    try {
      return await evaluateModel(subject, {
        model: 'x',
        data: [{ source: generatedSource(request, 12), name: 'twelve', variant: 'raven' }],
        ...SMALL,
        signal,
        onProgress: (stage, share) => {
          expect(share).toBeGreaterThanOrEqual(0);
          expect(share).toBeLessThanOrEqual(1);
          if (!seen.includes(stage)) seen.push(stage);
        },
      });
    } finally {
      await subject.dispose();
    }
  };

  test('threads give the same GSA as none', async () => {
    const subject = await openSubject(file('bundle'));
    try {
      const studied = await studyProblems(subject, [], { count: 150, seed: 4 });
      const here = await globalSelectionAccuracy(subject, studied, { repeats: 1, workers: 0 });
      const there = await globalSelectionAccuracy(subject, studied, { repeats: 1, workers: 2 });
      expect(there).toEqual(here);
      await expect(
        globalSelectionAccuracy(subject, studied, { workers: 1, signal: AbortSignal.abort() }),
      ).rejects.toThrow(/abort/i);
    } finally {
      await subject.dispose();
    }
  });

  test('the error of the part that failed is told, whichever it is', async () => {
    const subject = await openBundleSubject(file('bundle'));
    const { solver } = subject;
    const failing = (part: 'decode' | 'solveConcepts'): Subject =>
      subjectOfThinker({
        ...madeUpThinker(),
        manifest: solver.manifest,
        encode: (panels, options) => solver.encode(panels, options),
        decode: (concepts, options) => solver.decode(concepts, options),
        solveConcepts: (questions, options) => solver.solveConcepts(questions, options),
        [part]: () => Promise.reject(new Error(`no ${part}`)),
      });
    try {
      for (const part of ['decode', 'solveConcepts'] as const) {
        const metrics = ['gsa', 'errors'] as const;
        await expect(
          evaluateModel(failing(part), { model: 'x', data: [], metrics, ...SMALL }),
        ).rejects.toThrow(`no ${part}`);
      }
    } finally {
      await subject.dispose();
    }
  });

  test('has everything, and is the same every time', async () => {
    const stages: string[] = [];
    const first = await evaluate(undefined, stages);
    expect(stages).toEqual(['encoding', 'sa', 'errors', 'ari', 'vd', 'readback', 'gsa']);
    expect(first.selection).toMatchObject([{ data: 'twelve', variant: 'raven', count: 12 }]);
    expect(first.data).toMatchObject([{ data: 'twelve', variant: 'raven', count: 12 }]);
    expect(summaryText(first)).toMatch(/^twelve, RAVEN candidates, 12 problems: SA /);
    expect(summaryText({ ...first, selection: null })).toMatch(
      /^Data: twelve, RAVEN candidates, 12 problems\nGSA, /,
    );
    for (const line of [
      /^GSA, 12 problems of the data and 28 fresh ones \(seed \d+\), 1 repeat:/m,
      /^Mean squared error a pixel, 6 problems of the data: /m,
      /^ARI of rules of contexts, 12 problems of the data and 28 fresh ones \(seed \d+\): /m,
      /^Imagined panels read back, 6 fresh problems \(seed \d+\): /m,
    ]) {
      expect(summaryText(first)).toMatch(line);
    }
    expect(first.gsa?.problems).toMatchObject({ fromData: 12, generated: 28 });
    expect(first.gsa?.points).toHaveLength(12);
    expect(first.ari?.matrix.matrix).toHaveLength(first.sizes?.concepts ?? 0);
    expect(first.vd?.decline).toHaveLength(first.sizes?.concepts ?? 0);
    expect(first.readback?.problems).toBe(6);
    expect(first.examples).toHaveLength(6);
    expect(Object.keys(first.seconds).sort()).toEqual([...METRIC_NAMES].sort());
    const { seconds: _, ...values } = first;
    const { seconds: __, ...again } = await evaluate();
    expect(again).toEqual(values);
    expect(JSON.parse(JSON.stringify(values))).toEqual(values);
  });

  test('stops when told to', async () => {
    await expect(evaluate(AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
});

describe('crab evaluate', () => {
  const model = ['--model', file('bundle'), '--quiet'];

  test('reads a RAVEN folder made by others, and prints the documented JSON', async () => {
    const report = JSON.parse(
      await crab(
        'evaluate',
        ...model,
        ...words`--data ${file('others')} ${file('iraven_one.npz')} --metrics gsa,sa,ari,vd --problems 32 --repeats 1 --json`,
      ),
    ) as Record<string, unknown>;
    expect(report).toMatchObject({ model: file('bundle'), data: file('others'), count: 2 });
    expect([0, 0.5, 1]).toContain(report.sa);
    expect([0, 0.5, 1]).toContain(report.saL2);
    expect(report.selection).toMatchObject([{ variant: null }, { count: 1, variant: 'i-raven' }]);
    const gsa = report.gsa as { targets: number; candidates: number; accuracy: number }[];
    expect(gsa.map(({ targets, candidates }) => 100 * targets + candidates)).toEqual([
      102, 104, 108, 116, 202, 204, 208, 216, 302, 304, 308, 316,
    ]);
    expect(gsa.every(({ accuracy }) => accuracy >= 0 && accuracy <= 1)).toBe(true);
    expect(report.ari).toMatchObject({ matrix: {}, authors: {}, context: {} });
    expect(report.vd).toMatchObject({ names: [{ concept: 1 }, {}, {}, {}] });
    expect(report).not.toHaveProperty('readback');
  });

  test('writes the whole evaluation, and lines for people', async () => {
    const save = file('evaluation.json');
    const text = await crab('evaluate', ...model, '--data', file('others'), '--save', save);
    expect(text).toMatch(/others, 2 problems: SA \d+\.\d\d% \[/);
    const saved = JSON.parse(readFileSync(save, 'utf8')) as ModelEvaluation;
    expect(saved).toMatchObject({ format: 'crab-evaluation', gsa: null, readback: null });
    expect(saved.selection).toHaveLength(1);
  });

  test('says what is wrong', async () => {
    const data = ['--data', file('others')];
    await expect(crab('evaluate', ...model, ...data, '--part', 'val')).rejects.toThrow(
      /no problems of the part val/,
    );
    await expect(crab('evaluate', ...model, ...data, '--metrics', 'sa,x')).rejects.toThrow(
      /--metrics x: expected all/,
    );
    await expect(crab('evaluate', '--model', 'nothing', ...data, '--quiet')).rejects.toThrow(/zoo/);
  });

  test('refuses data that tell that they are of another configuration', async () => {
    const refused = (data: string) =>
      expect(crab('evaluate', ...model, '--data', data)).rejects.toMatchObject({
        name: 'ArgumentError',
        message: expect.stringMatching(/the data are of .+, the model is for center$/) as string,
      });
    const root = file('root');
    const single = sampleProblem({ configuration: 'center', seed: 2, index: 4 });
    const problem = sampleProblem({ configuration: 'left-right', seed: 2, index: 3 });
    const set = encodeSet(problemToBatch(problem));
    writeFileSync(file('unnamed.npz'), set);
    await refused(file('unnamed.npz'));
    writeFileSync(file('center.npz'), set);
    await refused(file('center.npz'));
    // Without labels the panels tell, whatever the file is called.
    const { label: _, ...untold } = problemToBatch(problem);
    writeFileSync(file('center.npz'), encodeSet({ ...untold, label: [[]] }));
    await refused(file('center.npz'));
    // Panels that show nothing we know tell nothing either: then the name does.
    const strange = { images: new Uint8Array(16 * 160 * 160).map((_, i) => (i * 37) % 256) };
    await writeRavenProblem(root, 9, single, strange);
    cpSync(path.join(root, 'center_single'), file('grids'), { recursive: true });
    writeFileSync(path.join(file('grids'), 'generate.json'), '{"configuration": "grid-2x2-noisy"}');
    await refused(file('grids'));
    writeFileSync(path.join(file('grids'), 'generate.json'), 'not of ours');
    expect(await crab('evaluate', ...model, '--data', file('grids'))).toMatch(/1 problem: SA/);
  });

  test.skipIf(!existsSync(REFERENCE))('reads the published files', async () => {
    const text = await crab('evaluate', ...model, '--data', REFERENCE, '--part', 'all', '--json');
    expect(JSON.parse(text)).toMatchObject({ count: 10 });
  });
});

test('labels tell which configurations problems can be of', () => {
  const possible = (configuration: Configuration) =>
    configurationsOfLabels(
      Array.from({ length: 32 }, (_, index) =>
        sampleProblem({ configuration, seed: 3, index }),
      ).map(({ rules }) => rules),
    );
  expect(possible('center')).toEqual(['center', 'grid-2x2', 'grid-3x3']);
  expect(possible('grid-3x3')).toEqual(['grid-2x2', 'grid-3x3']);
  expect(possible('up-down')).toEqual(['left-right', 'up-down']);
  expect(possible('out-in-grid')).toEqual(['out-in-grid']);
  for (const configuration of CONFIGURATIONS) {
    expect(possible(configuration)).toContain(configuration);
  }
  expect(configurationsOfLabels([[], []])).toEqual(CONFIGURATIONS);
});

test('paths tell which candidates a set has', () => {
  expect(variantOf('sets/raven_center_single.npz')).toBe('raven');
  expect(variantOf('sets/iraven_center_single.npz')).toBe('i-raven');
  expect(variantOf('/data/I-RAVEN/center_single')).toBe('i-raven');
  expect(variantOf('/data/RAVEN-10000/center_single')).toBe('raven');
  expect(variantOf('/home/raven/a/b/center.npz')).toBeNull();
  expect(variantOf('center.npz')).toBeNull();
});

test('concepts that share an attribute get letters', () => {
  const named = ['Type', 'Num/Pos', 'mixed', 'Num/Pos', 'mixed', 'unused'].map((name, m) => ({
    concept: m + 1,
    name,
    score: 0.123456789,
  }));
  expect(bundleNames(named).map(({ name }) => name)).toEqual([
    'Type',
    'Num/Pos a',
    'mixed',
    'Num/Pos b',
    'mixed',
    'unused',
  ]);
  expect(bundleNames(named)[0].score).toBe(0.12346);
});

describe('crab export', () => {
  const config = tinyConfig();
  const STEP = 50;
  const source = { configuration: 'center', noisy: false, seed: 17 } as const;
  const PROBLEMS = 5;

  const black = Buffer.alloc(4 * 64 * 64).toString('base64');

  /** A run with snapshots before and after its best weights; `imagined` are those with painted panels. */
  function runWithSnapshots(name: string, imagined: readonly number[]): string {
    const covariance = [
      [1, 0],
      [0, 1],
    ];
    const mixture = {
      weights: [0.6, 0.4],
      means: [
        [0, 0],
        [1, 1],
      ],
      covariances: [covariance, covariance],
    };
    const run = makeRun(file(name), {
      model: config,
      steps: 90,
      snapshots: { problems: PROBLEMS, moments: [0.1] },
      checkpoint: 'checkpoint-best-00000050.safetensors',
      prior: Array.from({ length: config.network.concepts }, () => mixture),
    });
    const truth = Array.from(
      { length: PROBLEMS },
      (_, index) => samplePanels({ ...source, index }).rules,
    );
    const rules = truth.map(() =>
      Array.from({ length: config.network.concepts }, () => [0.5, 0.5]),
    );
    for (const step of [10, 20, 90]) {
      const panels = imagined.includes(step) ? { imagined: black } : {};
      const snapshot = { step, source, rules, truth, prior: null, ...panels };
      writeFileSync(path.join(run, `rules-${step}.json`), JSON.stringify(snapshot));
    }
    return run;
  }

  const small = { problems: 64, judged: 4, named: 64 };

  test('adds names of concepts, rules and panels of the deployed networks, and accuracy', async () => {
    const out = file('exported');
    const report = await exportRun({ run: runWithSnapshots('run', [10, 20]), out, ...small });
    expect(report.step).toBe(STEP);
    const subject = await openBundleSubject(out);
    try {
      const { manifest } = subject.solver;
      expect(manifest.conceptNames).toEqual(report.conceptNames);
      expect(manifest.conceptNames.every((name) => name !== null)).toBe(true);
      expect(manifest.accuracy).toEqual(report.accuracy);
      expect(Object.keys(report.accuracy.sa)).toEqual(['raven', 'i-raven']);
      const { ruleMap } = subject;
      expect(ruleMap?.prior).toHaveLength(config.network.concepts);
      expect(ruleMap?.snapshots.map(({ step }) => step)).toEqual([10, 20, STEP]);
      const { rules, truth } = await parseSourceRules(subject, source, PROBLEMS);
      expect(truth).toHaveLength(PROBLEMS);
      ruleMap?.snapshots[2].rules.flat(2).forEach((value, i) => {
        expect(value).toBeCloseTo(rules.flat(2)[i], 3);
      });
      expect(ruleMap?.source).toEqual(source);
      const film = subject.solver.imagined?.() ?? [];
      expect(film.map((panels) => panels.length)).toEqual([4, 4, 4]);
      expect(film.slice(0, 2).flat()).toEqual(new Array(8).fill(new Float32Array(4096)));
      // The last ones are painted by the bundle itself; the file has 32 shades.
      const { panels } = samplePanels({ ...source, index: 2 });
      const drawn = drawPanels(layoutOf('center'), panels, 64);
      const context = picturesOf(drawn, 64).slice(0, 8);
      const { images } = await subject.solver.solve(context, { paint: 'mean' });
      film[2][2].forEach((value, i) => {
        expect(Math.abs(value - images[0][i])).toBeLessThan(0.6 / 31);
      });
    } finally {
      await subject.dispose();
    }
  });

  test('a run that began without painted panels makes a bundle without them', async () => {
    for (const imagined of [[], [20, 90]]) {
      const [run, out] = [file(`old-${imagined.length}`), file(`bundle-${imagined.length}`)];
      runWithSnapshots(path.basename(run), imagined);
      const { files } = await exportRun({ run, out, ...small });
      expect(Object.keys(files)).not.toContain('imagined.png');
      const subject = await openBundleSubject(out);
      expect(subject.ruleMap?.snapshots).toHaveLength(3);
      expect(subject.solver.imagined).toBeNull();
      await subject.dispose();
    }
  });

  test('painted panels that were cut short are told in one sentence', async () => {
    const run = runWithSnapshots('cut', [10, 20]);
    const snapshot = path.join(run, 'rules-20.json');
    writeFileSync(snapshot, readFileSync(snapshot, 'utf8').replace(black, black.slice(0, 400)));
    await expect(exportRun({ run, out: file('never'), ...small })).rejects.toThrow(
      'imagined.png: the panels of a moment have 300 bytes, not 16384',
    );
    expect(existsSync(file('never'))).toBe(false);
  });
});
