/** Files of measured trainings: what a run and its evaluation become, and what reading them refuses. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  formatTraining,
  parseTraining,
  readTrainings,
  tagIn,
  trainingCurve,
  trainingName,
} from '../../src/lab/index.js';
import { CONFIGURATIONS, sampleProblem } from '../../src/matrix/index.js';
import { writeRavenProblem } from '../../src/matrix/node.js';
import { systemNamed } from '../../src/models/index.js';
import { Generator, isTorchAvailable } from '../../src/torch/index.js';
import { train, type NewRunOptions, type ValidationMetrics } from '../../src/training/index.js';
import { crabInProcess as crab, failureOf } from '../cli/crab-in-process.js';
import { scratchPlaces } from '../scratch-folder.js';
import { madeTraining } from './made-trainings.js';

const file = scratchPlaces();

describe('the file of a training', () => {
  const training = madeTraining({ system: 'scl', preset: 'paper', configuration: 'center' });
  const json = formatTraining(training);
  const parsed = (change: object): (() => unknown) => {
    const text = JSON.stringify({ ...(JSON.parse(json) as object), ...change });
    return () => parseTraining(text, 'scl-paper-center.json');
  };

  test('is read as it was written', async () => {
    const place = file('systems');
    mkdirSync(place);
    writeFileSync(path.join(place, 'scl-paper-center.json'), json);
    const [read] = await readTrainings(place);
    expect(read).toMatchObject({ system: 'scl', tag: null, steps: training.steps, overrides: {} });
    expect(read.evaluation.selection).toHaveLength(2);
    expect(await readTrainings(file('none'))).toEqual([]);
  });

  test('must be what it says', () => {
    expect(parsed({})).not.toThrow();
    const other = 'scl-paper-center.json: ';
    expect(parsed({ system: 'brain' })).toThrow(`${other}system: expected one of crab, `);
    expect(parsed({ format: 'x' })).toThrow(`${other}format: expected "crab-training"`);
    expect(parsed({ steps: -1 })).toThrow(`${other}steps: expected a whole number of at least 0`);
    expect(parsed({ tag: 'A b' })).toThrow(`${other}tag: expected words of small letters`);
    expect(parsed({ evaluation: { sa: 2 } })).toThrow(`${other}evaluation.sa: expected a number`);
    expect(parsed({ curve: [{ step: 1, raven: 3, iRaven: null, gsa: null }] })).toThrow(
      `${other}curve[0].raven: expected a number from 0 to 1, found 3`,
    );
    expect(parsed({ tag: 'blind' })).toThrow(`${other}what it holds is called scl-paper-center-bl`);
    expect(() => parseTraining('hello', 'a.json')).toThrow('a.json is not JSON');
  });

  test('has the name of its system, preset, configuration and tag', () => {
    expect(trainingName({ ...training, tag: 'context-blind' })).toBe(
      'scl-paper-center-context-blind',
    );
    const run = { system: 'scl', model: systemNamed('scl').config('paper', 'center') };
    expect(tagIn('/a/scl-paper-center.json', run)).toBeNull();
    expect(tagIn('scl-paper-center-seed-2.json', run)).toBe('seed-2');
    for (const name of ['scl-paper.json', 'scl-paper-centers.json', 'scl-paper-center-A.json']) {
      expect(() => tagIn(name, run)).toThrow(`${name}: call it scl-paper-center.json, or`);
    }
    const overrides = { data: { context: 'white' } };
    const blind = {
      system: 'scl',
      model: systemNamed('scl').config('paper', 'center', { overrides }),
    };
    expect(() => tagIn('scl-paper-center.json', blind)).toThrow('with a tag that says so');
    expect(tagIn('scl-paper-center-context-blind.json', blind)).toBe('context-blind');
  });
});

test('a curve has at most sixty points, the first and the last among them', () => {
  const line = (step: number): ValidationMetrics => ({
    kind: 'validation',
    step,
    selectionAccuracy: { raven: step / 1000, 'i-raven': 0.5 },
    globalSelectionAccuracy: null,
    best: false,
    wall: { seconds: step },
  });
  const lines = Array.from({ length: 500 }, (_, i) => line(i + 1));
  const curve = trainingCurve(lines);
  expect(curve).toHaveLength(60);
  expect(curve[0]).toEqual({ step: 1, raven: 0.001, iRaven: 0.5, gsa: null });
  expect(curve.at(-1)?.step).toBe(500);
  expect(trainingCurve(lines.slice(0, 3)).map(({ step }) => step)).toEqual([1, 2, 3]);
  expect(trainingCurve([])).toEqual([]);
});

describe.skipIf(!isTorchAvailable())('crab evaluate --measured', () => {
  const small = { channels: 8, hidden: 16 };
  const settings = (out: string, preset: string, overrides: object): NewRunOptions => ({
    out,
    system: 'cnn',
    model: systemNamed('cnn').config(preset, 'center', { overrides }),
    budget: { kind: 'steps', steps: 4 },
    seed: 5,
    threads: 1,
    validation: { every: 2, problems: 4, patience: 9 },
  });
  const blind = { data: { problems: 8, context: 'white' }, network: small };
  beforeAll(async () => {
    await train({ ...settings(file('blind'), 'paper', blind), workers: 1 });
    const stop = new AbortController();
    const step = (): void => stop.abort();
    await train({ ...settings(file('cut'), 'paper', blind), workers: 1 }, { step }, stop.signal);
    const joint = { data: { problems: 8 }, network: small };
    await train({ ...settings(file('joint'), 'joint', joint), workers: 1 });
  }, 600_000);
  const measured = async (run: string, name: string, ...args: string[]) => {
    const out = file(`${name}.json`);
    const printed = await crab(
      ...['evaluate', '--model', file(run), '--count', '16', '--quiet', '--json'],
      ...['--measured', out, ...args],
    );
    const text = readFileSync(out, 'utf8');
    return { printed: JSON.parse(printed) as object, text, read: parseTraining(text, out) };
  };

  test('keeps how a run was trained and all that was measured', async () => {
    const name = 'cnn-paper-center-context-blind';
    const { printed, text, read } = await measured('blind', name, '--beside', '3');
    expect(read).toMatchObject({
      ...{ system: 'cnn', preset: 'paper', configuration: 'center', tag: 'context-blind' },
      ...{ seed: 5, steps: 4, beside: 3, problems: 8, overrides: blind },
    });
    expect(read.command).toBe(
      `crab train --system cnn --config center --preset paper --overrides '${JSON.stringify(blind)}' ` +
        '--device cpu --steps 4 --seed 5 --pool 8 --refresh 0 --validate-every 2 --patience 9',
    );
    expect(read.curve.map(({ step }) => step)).toEqual([2, 4]);
    expect(read).not.toHaveProperty('planned');
    const model = systemNamed('cnn').create(
      systemNamed('cnn').config('paper', 'center', { overrides: blind }),
      { generator: new Generator('cpu', 1) },
    );
    expect(read.parameters).toBe(model.parameterCount());
    model.dispose();
    const kept = JSON.parse(text) as { evaluation: object };
    expect(kept.evaluation).toEqual({ ...printed, model: 'center-cnn-paper' });
    expect(text).not.toContain(file());
  });

  test('says of a training that was stopped how many steps it was to have', async () => {
    const { read } = await measured('cut', 'cnn-paper-center-cut', '--metrics', 'sa');
    expect(read.steps).toBeLessThan(4);
    expect(read.planned).toBe(4);
  });

  test('measures a joint model on every configuration', async () => {
    const { printed, read } = await measured('joint', 'cnn-joint-center-few');
    const selection = read.evaluation.selection ?? [];
    expect(selection).toHaveLength(2 * CONFIGURATIONS.length);
    expect(new Set(selection.map(({ configuration }) => configuration))).toEqual(
      new Set(CONFIGURATIONS),
    );
    const raven = selection.filter(({ variant }) => variant === 'raven').map(({ sa }) => sa.value);
    const mean = raven.reduce((sum, value) => sum + value) / raven.length;
    expect((printed as { sa: number }).sa).toBeCloseTo(mean, 6);
    // On data of any of them too.
    const problem = sampleProblem({ configuration: 'up-down', seed: 2, index: 9 });
    await writeRavenProblem(file('data'), 9, problem);
    const data = ['--data', file('data', 'up_center_single_down_center_single')];
    const told = await crab('evaluate', '--model', file('joint'), ...data, '--quiet');
    expect(told).toContain('1 problem: SA');
  });

  test('is refused for what is no run, under a wrong name, and alone', async () => {
    const at = ['evaluate', '--quiet', '--model'];
    const failures: [string[], string][] = [
      [['center', '--measured', file('x.json')], '--measured is of a training: center is no run'],
      [[file('blind'), '--measured', file('x.json')], 'call it cnn-paper-center.json, or'],
      [[file('blind'), '--beside', '2'], '--beside goes with --measured'],
      [[file('blind'), '--count', '8', '--device', 'cuda:77'], '--device cuda:77: '],
    ];
    for (const [args, message] of failures) {
      const failure = await failureOf(...at, ...args);
      expect(failure.message).toContain(message);
      expect(failure.code).toBe(2);
    }
  });
});
