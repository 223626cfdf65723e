/** Every system in one lab: a run and its bundle agree, and what a system cannot have is absent. */
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  describeSystems,
  evaluateModel,
  exportRun,
  generatedSource,
  openRunSubject,
  openSubject,
  PictureSubject,
  readFacts,
  reportZoo,
  type Measured,
  type ModelEvaluation,
  type Subject,
} from '../../src/lab/index.js';
import { sampleProblem } from '../../src/matrix/index.js';
import { writeRavenProblem } from '../../src/matrix/node.js';
import { SYSTEM_NAMES, SystemModel, systemNamed, type Missing } from '../../src/models/index.js';
import { writeBundle } from '../../src/solver/node.js';
import { Generator, isTorchAvailable, nn, stack, type Tensor } from '../../src/torch/index.js';
import { train } from '../../src/training/index.js';
import { crabInProcess as crab } from '../cli/crab-in-process.js';
import { scratchPlaces } from '../scratch-folder.js';
import { randomBundle, tinyConfig } from '../solver/random-model.js';
import { tinyRun } from '../training/tiny.js';

const file = scratchPlaces();
const SMALL = { problems: 40, repeats: 1, panels: 64, pictures: 6 };
const request = { configuration: 'center', noisy: false, variant: 'raven', seed: 5 } as const;

async function evaluated(subject: Subject, count = 24): Promise<ModelEvaluation> {
  const source = generatedSource(request, count, subject.facts.imageSize);
  try {
    return await evaluateModel(subject, {
      model: 'x',
      data: [{ source, variant: 'raven' }],
      ...SMALL,
    });
  } finally {
    await subject.dispose();
  }
}

describe.skipIf(!isTorchAvailable())('a run of CRAB on libtorch', () => {
  test('gives the numbers of its f32 bundle', async () => {
    const run = file('run');
    await train({ ...tinyRun(run), workers: 1 });
    const problems = 64;
    await exportRun({ run, out: file('bundle'), problems, judged: 4, named: 64 });
    const [ours, theirs] = [
      await evaluated(await openRunSubject(run, { calibration: { problems } })),
      await evaluated(await openSubject(file('bundle'))),
    ];
    expect(ours).toMatchObject({ name: 'center-crab-small', system: 'crab', preset: 'small' });
    expect(ours.sizes).toEqual(theirs.sizes);
    // Of candidates that are nearly equally near, rounding may decide otherwise on other processors.
    const near = (a: Measured | undefined, b: Measured | undefined, most = 0.06): void =>
      expect(Math.abs((a?.value ?? NaN) - (b?.value ?? NaN))).toBeLessThan(most);
    near(ours.selection?.[0].sa, theirs.selection?.[0].sa);
    near(ours.selection?.[0].saL2, theirs.selection?.[0].saL2);
    ours.gsa?.points.forEach((point, i) => {
      const other = theirs.gsa?.points[i];
      near(point.accuracy, other?.accuracy);
      near(point.each, other?.each);
      near(point.accuracyL2, other?.accuracyL2);
    });
    for (const kind of ['matrix', 'context'] as const) {
      const gap = (ours.ari?.[kind].average ?? NaN) - (theirs.ari?.[kind].average ?? NaN);
      expect(Math.abs(gap)).toBeLessThan(0.06);
    }
    for (const kind of ['reconstruction', 'prediction', 'predictionAnywhere'] as const) {
      near(ours.errors?.[kind]?.meanSquared, theirs.errors?.[kind]?.meanSquared, 1e-4);
    }
    near(ours.readback?.unreadable, theirs.readback?.unreadable);
    ours.vd?.decline.flat().forEach((value, i) => {
      expect(value).toBeCloseTo(theirs.vd?.decline.flat()[i] ?? NaN, 3);
    });
    ours.examples.forEach(({ confidence }, i) => {
      expect(confidence).toBeCloseTo(theirs.examples[i].confidence, 2);
    });
    expect(ours.gsa?.points).toHaveLength(12);
  });
});

/** A model that peeks at what is missing: the true panels score best, and are what it paints. */
class Peeking extends SystemModel {
  readonly layer = new nn.Linear(1, 1, { generator: new Generator('cpu', 1) });

  override score(panels: Tensor, missing: Missing, candidates: Tensor): Tensor {
    const rows = missing.map((places, n) => {
      const truth = stack(places.map((at) => panels.select(0, n).select(0, at))); // [T, S, S]
      return candidates.select(0, n).sub(truth.unsqueeze(0)).abs().sum([1, 2, 3]).neg(); // [C]
    });
    return stack(rows); // [N, C]
  }

  override impute(panels: Tensor): Tensor {
    return panels;
  }
}

describe.skipIf(!isTorchAvailable())('a system without concepts', () => {
  const facts = {
    name: 'center-peeking-paper',
    system: 'peeking',
    preset: 'paper',
    configuration: 'center',
    noisy: false,
    imageSize: 80,
    positions: 'any',
    can: ['impute'],
    sizes: null,
    training: {},
    hash: null,
  } as const;

  test('is measured by its scores and pictures, at its own size', async () => {
    const found = await evaluated(new PictureSubject(new Peeking(), facts));
    expect(found.conditions.metrics).toEqual(['sa', 'gsa', 'errors', 'readback']);
    expect(found.gsa?.points).toHaveLength(12);
    for (const point of found.gsa?.points ?? []) {
      expect(point.accuracy.value).toBe(1);
      expect(point).not.toHaveProperty('accuracyL2');
    }
    expect(found.errors?.prediction.meanSquared.value).toBeCloseTo(0, 10);
    expect(found.errors?.predictionAnywhere?.meanSquared.value).toBeCloseTo(0, 10);
    expect(found.errors).not.toHaveProperty('reconstruction');
    expect(found.readback?.obeys.value).toBeGreaterThan(0.8);
    expect(found.readback).not.toHaveProperty('reconstructedObeys');
    expect(found.selection?.[0]).not.toHaveProperty('saL2');
    expect([found.ari, found.vd, found.sizes]).toEqual([null, null, null]);
  });

  test('for panel 9 alone has no global selection accuracy', async () => {
    const last = { ...facts, positions: 'last', can: [] } as const;
    const found = await evaluated(new PictureSubject(new Peeking(), last));
    expect(found.conditions.metrics).toEqual(['sa']);
    expect(found.gsa).toBeNull();
  });
});

describe.skipIf(!isTorchAvailable())('a run of a selective system', () => {
  const run = file('runs', 'center-cnn');
  beforeAll(async () => {
    const model = systemNamed('cnn').config('paper', 'center', {
      overrides: { data: { problems: 8 }, network: { channels: 8, hidden: 16 } },
    });
    mkdirSync(file('runs'));
    await train({
      out: run,
      system: 'cnn',
      model,
      budget: { kind: 'steps', steps: 2 },
      seed: 5,
      threads: 1,
      workers: 1,
      validation: { every: 2, problems: 4 },
    });
    for (const index of [8, 9]) {
      const problem = sampleProblem({ configuration: 'center', seed: 2, index });
      await writeRavenProblem(file('raven'), index, problem);
    }
  }, 600_000);

  test('is evaluated on a RAVEN folder at 80x80, and lacks what it cannot have', async () => {
    expect(await readFacts(run)).toMatchObject({ imageSize: 80, positions: 'last', can: [] });
    const args = ['evaluate', '--model', run, '--quiet', '--json'];
    const report = JSON.parse(
      await crab(...args, '--data', file('raven'), '--metrics', 'all'),
    ) as object;
    expect(report).toMatchObject({ system: 'cnn', preset: 'paper', count: 2 });
    for (const key of ['saL2', 'gsa', 'errors', 'ari', 'vd', 'readback']) {
      expect(report).not.toHaveProperty(key);
    }
    const asked = crab(...args, '--data', file('raven'), '--metrics', 'sa,vd');
    await expect(asked).rejects.toThrow('--metrics vd: cnn has no concepts');
    await expect(crab(...args, '--device', 'gpu')).rejects.toThrow(/expected cpu, cuda/);
  });

  test('has its page, figures and rows beside other systems', async () => {
    const { manifest, files } = randomBundle(tinyConfig());
    await writeBundle(file('runs', 'bundle'), manifest, files);
    const out = file('report');
    const { evaluations } = await reportZoo({ zoo: file('runs'), out, count: 8, metrics: ['sa'] });
    expect(evaluations.map(({ system }) => system)).toEqual(['crab', 'cnn']);
    const index = readFileSync(path.join(out, 'index.html'), 'utf8');
    expect(index).toContain('center-cnn-paper.html');
    expect(index).toMatch(/<td>cnn<\/td><td>D<\/td>/);
    expect(index).toContain('<td>ours, calibrated</td>');
    const page = readFileSync(path.join(out, 'center-cnn-paper.html'), 'utf8');
    expect(page).toContain('id="answer-selection-1"');
    // Pictures are any letters.
    const words = page.replaceAll(/data:[^"]*"/g, '');
    expect(words).not.toMatch(/id="concepts"|id="rules"|id="positions"|NaN|undefined/);
  });
});

describe('crab systems', () => {
  test('lists every system with what it needs, can do and was measured to do', async () => {
    const { systems } = JSON.parse(await crab('systems', '--json')) as {
      systems: Awaited<ReturnType<typeof describeSystems>>;
    };
    expect(systems.map(({ name }) => name)).toEqual(SYSTEM_NAMES);
    const [own] = systems.filter(({ name }) => name === 'crab');
    expect(own).toMatchObject({
      needs: { imageSize: 64, candidates: null },
      positions: 'any',
      can: ['impute', 'concepts', 'rules'],
      measured: [{ preset: 'crab', configurations: 7 }],
    });
    expect(own.measured[0].sa.raven).toBeGreaterThan(0.98);
    const text = await crab('systems');
    expect(text).toMatch(/^cnn: .*\n {2}presets {4}paper, endless, joint\n/m);
    expect(text).toContain('candidates of RAVEN, pictures of 80x80');
    expect(text).toContain('chooses for panel 9');
    expect(text).toContain('CRAB: RAVEN 94.7%, I-RAVEN 95.9%');
  });

  test('speaks of one configuration if one was measured', async () => {
    const docs = file('one');
    mkdirSync(path.join(docs, 'measured'), { recursive: true });
    cpSync('docs/measured/center.json', path.join(docs, 'measured/center.json'));
    expect(await crab('systems', '--docs', docs)).toContain('preset crab, 1 configuration: ');
    rmSync(docs, { recursive: true });
  });

  test('says so if nothing was measured', async () => {
    const systems = await describeSystems(file());
    expect(systems.every(({ measured }) => measured.length === 0)).toBe(true);
    await expect(crab('systems', '--docs', file())).rejects.toThrow(/there are no measurements in/);
    await expect(crab('systems', '--docs', file('x'))).rejects.toThrow(/x: no such folder/);
  });
});
