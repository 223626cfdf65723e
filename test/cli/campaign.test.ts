/** Plans of campaigns say what `crab` understands, and a campaign files what it measured under the right names. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { admitted, trainingsOf } from '../../bench/campaign-plan.mjs';
import { define as defineEvaluate } from '../../src/cli/evaluate.js';
import { define as defineExport } from '../../src/cli/export.js';
import { define as defineTrain } from '../../src/cli/train.js';
import { parseTraining, tagIn } from '../../src/lab/index.js';
import { systemNamed } from '../../src/models/index.js';
import { isTorchAvailable } from '../../src/torch/index.js';
import { scratchFolder } from '../scratch-folder.js';

const root = path.resolve(import.meta.dirname, '../..');
const plans = path.join(root, 'bench/plans');
const folder = scratchFolder();
const read = (file: string) =>
  trainingsOf(JSON.parse(readFileSync(path.join(plans, file), 'utf8')) as object[]);

/** What a command understands of its flags; an error for one that it does not know. */
function options(define: typeof defineTrain, args: readonly string[]): Record<string, unknown> {
  const command = new Command('crab').exitOverride().argument('[of]');
  define(command, new AbortController().signal);
  command.action(() => undefined).configureOutput({ writeErr: () => undefined });
  command.parse([...args], { from: 'user' });
  return command.opts();
}

describe.each(readdirSync(plans))('the plan %s', (file) => {
  test.each(read(file).map((each) => [each.name, each] as const))('%s', (name, planned) => {
    const { flags, train, evaluate = [], pictures, ...rest } = planned;
    const told = options(defineTrain, [...flags, ...train]);
    const {
      system,
      preset,
      config,
      overrides = '{}',
      steps,
      epochs,
    } = told as Record<string, string>;
    expect(steps ?? epochs).toBeDefined();
    const model = systemNamed(system).config(preset, config as 'center', {
      overrides: JSON.parse(overrides) as object,
    });
    const tag = name.slice(`${system}-${preset}-${config}-`.length) || null;
    expect(tagIn(`${name}.json`, { system, model })).toBe(tag);
    const measured = ['--measured', `${name}.json`, ...(pictures ? ['--answers', 'a.json'] : [])];
    options(defineEvaluate, ['--model', 'run', ...measured, ...evaluate]);
    if (rest.export !== undefined) {
      expect(systemNamed(system).exports).toBeDefined();
      options(defineExport, ['run', '--out', 'bundle', ...rest.export]);
    }
    if (pictures) {
      expect(systemNamed(system).can).toContain('impute');
      expect(systemNamed(system).positions).toBe('any');
    }
    expect(planned.seconds).toBeGreaterThan(0);
  });
});

test('a plan that would file two trainings under one name is refused', () => {
  const group = { systems: ['scl'], presets: ['paper'], configurations: ['center'], train: [] };
  expect(() => trainingsOf([group, group])).toThrow('scl-paper-center twice');
  expect(() => trainingsOf([{ ...group, systems: 'scl' }])).toThrow('a list of groups');
  expect(trainingsOf([group, { ...group, tag: 'seed-2' }])).toHaveLength(2);
});

test('trainings are admitted as they come while time is left, the longest begin', () => {
  const made = [50, 70, 60, 20, 10].map((seconds) => ({ name: `${seconds}`, seconds }));
  const names = (seconds: number) => admitted(made, seconds).map(({ name }) => name);
  expect(names(1000)).toEqual(['70', '60', '50', '20', '10']);
  expect(names(130)).toEqual(['70', '50', '10']);
  expect(names(0)).toEqual([]);
  expect(admitted<{ seconds?: number }>([{}], 0)).toHaveLength(1);
});

test.skipIf(!isTorchAvailable())(
  'a campaign trains, measures, packs, and does nothing twice',
  () => {
    const plan = path.join(folder, 'plan.json');
    const overrides = { optimizer: { batchSize: 4 }, network: { channels: 4, hidden: 8 } };
    const group = {
      ...{ systems: ['cnn'], presets: ['paper'], configurations: ['center', 'grid-2x2'] },
      train: ['--steps', '2', '--pool', '8', '--overrides', JSON.stringify(overrides)],
      evaluate: ['--count', '8'],
    };
    writeFileSync(plan, JSON.stringify([group]));
    const out = path.join(folder, 'out');
    const campaign = () =>
      spawnSync(
        process.execPath,
        [
          ...[path.join(root, 'bench/campaign.mjs'), plan, '--out', out, '--device', 'cpu'],
          ...['--at-once', '2', '--parts', '15'],
        ],
        { encoding: 'utf8' },
      );
    const first = campaign();
    expect(`${first.stdout}${first.stderr}`).toMatch(/\n2 of 2 in \d+ s/);
    expect(first.status).toBe(0);
    for (const name of ['cnn-paper-center', 'cnn-paper-grid-2x2']) {
      const file = path.join(out, `${name}.json`);
      expect(parseTraining(readFileSync(file, 'utf8'), file)).toMatchObject({ steps: 2 });
    }
    expect(readdirSync(path.join(out, 'runs'))).toEqual([]);
    const unpacked = path.join(folder, 'unpacked');
    mkdirSync(unpacked);
    execFileSync('tar', ['-xf', path.join(out, 'parts/1.tar'), '-C', unpacked]);
    expect(readdirSync(unpacked).sort()).toEqual([
      'cnn-paper-center.json',
      'cnn-paper-grid-2x2.json',
      'logs',
    ]);
    expect(campaign().stdout).toContain('0 of 0');
  },
);
