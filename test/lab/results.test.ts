/** Results in documents: what stands there is what was measured. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  measuredOf,
  readMeasured,
  renderResults,
  RESULT_SECTIONS,
  updateResults,
  writeMeasured,
  type AriTable,
  type Measured,
  type ModelEvaluation,
} from '../../src/lab/index.js';
import { CONFIGURATIONS, type Configuration, type Variant } from '../../src/matrix/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { exampleEvaluation } from './report/example-model.js';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
/** As many digits as files keep. */
const digits = (value: number): number => Number(value.toPrecision(6));
const share = (value: number): Measured => ({
  value: digits(value),
  low: digits(value - 0.01),
  high: digits(value + 0.01),
});

/** A made-up evaluation, all of its values told by one. */
function evaluationOf(configuration: Configuration, value: number, noisy = false): ModelEvaluation {
  const example = exampleEvaluation(configuration);
  const { gsa, errors, ari, readback, vd } = example;
  if (gsa === null || errors === null || ari === null || readback === null || vd === null) {
    throw new Error('the example has all of them');
  }
  const table = (average: number): AriTable => ({
    ...ari.matrix,
    matrix: [],
    best: [],
    average: digits(average),
    oneToOne: [],
    averageOneToOne: digits(average / 2),
    byGroup: { Type: value, Size: value, Color: value, 'Num/Pos': null },
  });
  const set = (data: string, variant: Variant, count: number, sa: number, saL2: number) => ({
    ...{ data: `/somewhere/${data}`, variant, count, sa: share(sa), saL2: share(saL2) },
  });
  const pixel = { meanSquared: share(value / 100), meanAbsolute: share(value / 10) };
  return {
    ...example,
    model: '/somewhere/bundles/x',
    name: noisy ? `${configuration}-noisy` : configuration,
    noisy,
    data: [],
    training: {},
    selection: [
      set('raven.npz', 'raven', 400, 0, 0),
      set('more.npz', 'raven', 5000, value, value - 0.1),
      set('i.npz', 'i-raven', 5000, value - 0.2, value - 0.3),
    ],
    gsa: { ...gsa, points: gsa.points.slice(0, 1).map((p) => ({ ...p, accuracy: share(value) })) },
    errors: { ...errors, reconstruction: pixel, prediction: pixel, predictionAnywhere: pixel },
    ari: { ...ari, matrix: table(value), authors: table(value - 0.1), context: table(value - 0.2) },
    vd: { ...vd, decline: [], names: [{ concept: 1, name: 'Type', score: value }] },
    readback: { ...readback, byAttribute: [] },
  };
}

const all = CONFIGURATIONS.map((configuration) => measuredOf(evaluationOf(configuration, 0.9)));
const marked = (name: string): string => `<!-- measured:${name} -->\nold\n<!-- /measured -->`;
const rendered = (name: string, models = all): string =>
  renderResults(marked(name), models).split('\n').slice(1, -1).join('\n');

describe('sections', () => {
  test('keep the prose around them', () => {
    const document = `# Title\nprose ${marked('errors')} more\n${marked('concepts')}\nend\n`;
    const out = renderResults(document, all);
    expect(out).toMatch(/^# Title\nprose <!-- measured:errors -->\n\| mean squared error/);
    expect(out).toMatch(/<!-- \/measured --> more\n<!-- measured:concepts -->\n/);
    expect(out).toMatch(/<!-- \/measured -->\nend\n$/);
    expect(out).not.toContain('old');
    expect(renderResults(out, all)).toBe(out);
  });

  test.each(RESULT_SECTIONS.filter((name) => name !== 'command'))(
    '%s is a table as wide as its head',
    (name) => {
      const lines = rendered(name).split('\n');
      const cells = lines.map((line) => line.split('|').length);
      expect(lines.length).toBeGreaterThan(2);
      expect(new Set(cells).size).toBe(1);
    },
  );

  test('of selection take the result on most problems, and average over the seven', () => {
    const lines = rendered('selection').split('\n');
    expect(lines[2]).toBe(
      `| ours, own distance | 90.0 / 70.0 |${' 90.0 / 70.0 |'.repeat(CONFIGURATIONS.length)}`,
    );
    expect(lines[3]).toContain('| ours, plain L2 | 80.0 / 60.0 |');
    expect(lines[4]).toContain('| the paper | 94.7 / 95.9 | 96.6 / 97.1 | 93.9 / 96.7 |');
    const few = rendered('selection', all.slice(0, 2)).split('\n')[2];
    expect(few).toBe(
      `| ours, own distance | – / – | 90.0 / 70.0 | 90.0 / 70.0 |${' – / – |'.repeat(5)}`,
    );
    expect(rendered('selection-detail').split('\n')[3]).toBe(
      '| Center | more.npz, RAVEN | 5,000 | 90.0 [89.0, 91.0] | 80.0 [79.0, 81.0] |',
    );
  });

  test('tell the command that measures the same again', () => {
    const [model] = all;
    const conditions = { ...model.conditions, repeats: 3 };
    const selection = model.selection?.map((each, i) => (i === 1 ? { ...each, seed: 7 } : each));
    const measured = { ...model, conditions, selection: selection ?? null };
    expect(rendered('command', [measured])).toBe(
      'Measured by `crab report --zoo --docs docs --count 5000 --data SETS --repeats 3`.',
    );
    // Fresh problems and given data are two tables.
    expect(rendered('selection', [measured]).split('\n')[2]).toContain('| – / – | 90.0 / – |');
    expect(rendered('selection-given', [measured]).split('\n')[2]).toContain('| 0.0 / 70.0 |');
  });

  test('of rules stand beside the paper', () => {
    const lines = rendered('ari').split('\n');
    expect(lines[2]).toBe(
      '| Center | 0.900 | 0.900 | 0.900 | 0.900 | – | 0.450 | – | – | – | 0.800 | 0.700 | 0.733 |',
    );
    expect(lines.at(-1)).toMatch(/^\| average \| 0\.900 /);
    const noisy = measuredOf(evaluationOf('grid-2x2', 0.5, true));
    expect(rendered('ari', [noisy])).toMatch(/\| 2x2Grid, noisy \| 0\.500 .* \| – \|$/);
  });

  test('have rows for every system and preset, with what it can have', () => {
    const [first] = all;
    const selection = first.selection?.map(({ saL2: _, ...rest }) => rest) ?? null;
    const chooser = {
      ...first,
      name: 'center-scl-paper',
      system: 'scl',
      preset: 'paper',
      selection,
    };
    const scl = { ...chooser, gsa: null, ari: null, vd: null, errors: null, readback: null };
    const rows = rendered('selection', [...all, scl])
      .split('\n')
      .slice(2);
    expect(rows.map((row) => row.split(' |')[0])).toEqual([
      '| ours, own distance',
      '| ours, plain L2',
      '| the paper',
      '| scl',
      '| the paper, SCL (D)',
    ]);
    expect(rows[3]).toContain('| – / – | 90.0 / 70.0 | – / – |');
    expect(rows[4]).toContain('| 95.1 / 85.7 | 99.9 / 99.9 |');
    for (const name of ['gsa', 'ari', 'concepts', 'readback', 'errors']) {
      expect(rendered(name, [...all, scl])).toBe(rendered(name));
    }
    const other = { ...first, preset: 'paper' };
    expect(rendered('selection', [...all, other])).toContain('| ours paper, plain L2 |');
  });

  test('say that nothing was measured', () => {
    expect(rendered('gsa', [])).toBe('Not measured yet.');
  });

  test('must be known and closed', () => {
    expect(() => renderResults(marked('beauty'), all)).toThrow(/measured:beauty.*expected one of/);
    expect(() => renderResults('<!-- measured:gsa -->', all)).toThrow(/gsa --> is not closed/);
    expect(() => renderResults('<!-- /measured -->', all)).toThrow(/closes nothing/);
    expect(() =>
      renderResults('<!-- measured:gsa --><!-- measured:ari --><!-- /measured -->', all),
    ).toThrow(/gsa --> is not closed/);
  });
});

describe('measured files', () => {
  test('are written and read, without paths of a machine', async () => {
    const docs = scratchFolder();
    const folder = path.join(docs, 'measured');
    mkdirSync(folder);
    const file = path.join(folder, 'up-down.json');
    const other = { ...evaluationOf('center', 0.5), name: 'center-scl', system: 'scl' };
    await writeMeasured(folder, [evaluationOf('center', 0.5), other]);
    await writeMeasured(folder, [evaluationOf('up-down', 0.25)]);
    // Those of the same system and preset make way, others stay.
    expect(readdirSync(folder)).toEqual(['center-scl.json', 'up-down.json']);
    rmSync(path.join(folder, 'center-scl.json'));
    expect(readFileSync(file, 'utf8')).not.toMatch(/somewhere|seconds/);
    const [model] = await readMeasured(folder);
    expect(model).toMatchObject({ name: 'up-down', system: 'crab', selection: [{}, {}, {}] });
    writeFileSync(path.join(docs, 'results.md'), marked('errors'));
    expect(await updateResults(docs)).toBe(true);
    expect(readFileSync(path.join(docs, 'results.md'), 'utf8')).toContain('| U-D | 0.0025 |');
    expect(await updateResults(docs)).toBe(false);
  });

  test('must be what they say', async () => {
    const folder = scratchFolder();
    expect(await readMeasured(path.join(folder, 'none'))).toEqual([]);
    writeFileSync(path.join(folder, 'a.json'), '{"format":"other"}');
    await expect(readMeasured(folder)).rejects.toThrow(/a\.json: not an evaluation/);
    writeFileSync(path.join(folder, 'a.json'), 'hello');
    await expect(readMeasured(folder)).rejects.toThrow(/a\.json is not JSON/);
  });
});

test('docs/results.md is what the command writes', async () => {
  const document = readFileSync(path.join(DOCS, 'results.md'), 'utf8');
  expect(document).toContain('<!-- measured:selection -->');
  expect(renderResults(document, await readMeasured(path.join(DOCS, 'measured')))).toBe(document);
});
