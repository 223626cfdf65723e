/** Results in documents: what stands there is what was measured. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  describeSystems,
  measuredOf,
  readMeasured,
  readMeasurements,
  renderResults,
  RESULT_SECTIONS,
  systemFigureFiles,
  trainingName,
  updateResults,
  writeMeasured,
  writeSystemFigures,
  type AriTable,
  type Measured,
  type MeasuredTraining,
  type ModelEvaluation,
} from '../../src/lab/index.js';
import { CONFIGURATIONS, type Configuration, type Variant } from '../../src/matrix/index.js';
import { crabInProcess as crab } from '../cli/crab-in-process.js';
import { scratchFolder } from '../scratch-folder.js';
import { readTraining } from './made-trainings.js';
import { exampleEvaluation } from './report/example-model.js';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
/** As many digits as files keep. */
const digits = (value: number): number => Number(value.toPrecision(6));
const share = (value: number): Measured => ({
  value: digits(value),
  low: digits(Math.max(0, value - 0.01)),
  high: digits(Math.min(1, value + 0.01)),
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
const measured = { models: all, trainings: [] };
const marked = (name: string): string => `<!-- measured:${name} -->\nold\n<!-- /measured -->`;
const trainings = [
  ...CONFIGURATIONS.flatMap((configuration, i) => [
    readTraining({ system: 'scl', preset: 'paper', configuration, raven: 0.9, iRaven: 0.8 }),
    readTraining({
      system: 'anp',
      preset: 'paper',
      configuration,
      raven: 0.5,
      steps: 100 * (i + 1),
    }),
  ]),
  readTraining({ system: 'cnn', preset: 'paper', configuration: 'center', raven: 0.2 }),
  readTraining({ system: 'scl', preset: 'endless', configuration: 'center', problems: null }),
  readTraining({
    ...{ system: 'scl', preset: 'paper', configuration: 'center', tag: 'context-blind' },
    ...{ raven: 0.13, iRaven: 0.12 },
  }),
];
const blank = (name: string): string => `<!-- measured:${name} --><!-- /measured -->`;
const rendered = (name: string, models = all, trained: readonly MeasuredTraining[] = trainings) =>
  renderResults(blank(name), { models, trainings: trained }).split('\n').slice(1, -1).join('\n');

describe('sections', () => {
  test('keep the prose around them', () => {
    const document = `# Title\nprose ${marked('errors')} more\n${marked('concepts')}\nend\n`;
    const out = renderResults(document, measured);
    expect(out).toMatch(/^# Title\nprose <!-- measured:errors -->\n\| mean squared error/);
    expect(out).toMatch(/<!-- \/measured --> more\n<!-- measured:concepts -->\n/);
    expect(out).toMatch(/<!-- \/measured -->\nend\n$/);
    expect(out).not.toContain('old');
    expect(renderResults(out, measured)).toBe(out);
  });

  test.each(RESULT_SECTIONS.filter((name) => !/^command$|^systems-(figure|given)/.test(name)))(
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

  test('of systems have the paper beside ours, and a dash for what was not trained', () => {
    const cells = (row: string): string[] => row.split(' | ').slice(1);
    const rowOf = (name: string, start: string): string[] =>
      cells(
        rendered(name)
          .split('\n')
          .find((line) => line.startsWith(`| ${start} |`)) ?? '',
      );
    expect(rowOf('systems', 'SCL')).toEqual([
      ...['95.1 / 85.7', '90.0 / 80.0', '-5.1 / -5.7', '–', '0.14', '20,000', '2.0 |'],
    ]);
    // A system with concepts is compared by plain L2.
    expect(rowOf('systems', 'ANP').slice(0, 3)).toEqual([
      ...['10.9 / 27.5', '40.0 / 15.0', '+29.1 / -12.5'],
    ]);
    expect(rowOf('systems', 'ANP')[5]).toBe('100 to 700');
    expect(rowOf('systems', 'LEN')).toEqual([
      '72.4 / 15.0',
      ...Array.from({ length: 5 }, () => '–'),
      '– |',
    ]);
    // An average needs all seven.
    expect(rowOf('systems', 'CNN')[1]).toBe('–');
    const table = rendered('systems-configurations').split('\n');
    const rows = table.filter((line) => /^\| (SCL|CNN|ANP) /.test(line));
    expect(rows.map((row) => row.split(' | ').slice(0, 4).join(' | '))).toEqual([
      '| ANP | the paper | 10.9 / 27.5 | 9.8 / 47.4',
      '| ANP | `paper`, plain L2 | 40.0 / 15.0 | 40.0 / 15.0',
      '| ANP | `paper`, own distance | 50.0 / 25.0 | 50.0 / 25.0',
      '| CNN | the paper (D) | 16.1 / 12.9 | 15.6 / 12.8',
      '| CNN | `paper` | – | 20.0 / 25.0',
      '| SCL | the paper (D) | 95.1 / 85.7 | 99.9 / 99.9',
      '| SCL | `paper` | 90.0 / 80.0 | 90.0 / 80.0',
      '| SCL | `endless` | – | 50.0 / 25.0',
    ]);
    expect(rendered('systems-blind')).toContain('| SCL | Center | 90.0 / 80.0 | 13.0 / 12.0 |');
    expect(rendered('systems-learned')).toContain('| ANP | `paper` | 7 | 0.040 | 0.400 | 70.7 |');
    expect(rendered('systems-readback')).toContain(
      '| ANP | `paper` | 7 | 50.0 | – | 25.0 | – | 10.0 | 90.0 |',
    );
    expect(rendered('systems-training')).toContain(
      '| SCL | `paper`, context-blind | 1 | 6,000 | 20,000 | 15,000 | 2.0 | 5 | NVIDIA H200 |',
    );
    expect(rendered('systems-training')).toContain('| SCL | `endless` | 1 | endless |');
    const cut = {
      system: 'scl',
      preset: 'paper',
      configuration: 'center',
      planned: 37_500,
    } as const;
    expect(rendered('systems-training', all, [readTraining(cut)])).toContain(
      '| 20,000 (1 cut short) |',
    );
    expect(rendered('systems-training', all, [])).toBe('Not trained yet.');
    expect(rendered('systems', all, [])).not.toMatch(/\b0\.0\b/);
  });

  test("of systems take CRAB's released preset with targets of its own as published", () => {
    const told = { system: 'crab', preset: 'released', configuration: 'center' } as const;
    const own = readTraining({ ...told, tag: 'own-targets', raven: 0.7 });
    const table = (trained: readonly MeasuredTraining[]): string =>
      rendered('systems-configurations', all, trained);
    expect(table([own])).toContain(
      '| CRAB | `released`, own-targets, plain L2 | – | 60.0 / 15.0 |',
    );
    const shared = readTraining({ ...told, raven: 0.6 });
    expect(table([own, shared])).toContain('| CRAB | `released`, plain L2 | – | 50.0 / 15.0 |');
  });

  test('of systems set joint trainings beside what repositories print', () => {
    const joint = (variant: 'raven' | 'i-raven', tag: string | null) => {
      const made = readTraining({
        system: 'copinet',
        preset: 'joint',
        configuration: 'center',
        tag,
      });
      const [set] = made.evaluation.selection ?? [];
      const selection = CONFIGURATIONS.map((configuration, i) => {
        const value = (variant === 'raven' ? 0.8 : 0.4) + i / 100;
        return { ...set, variant, configuration, sa: { value, low: value, high: value } };
      });
      return { ...made, evaluation: { ...made.evaluation, selection } };
    };
    const table = rendered('systems-joint', all, [
      joint('raven', null),
      joint('i-raven', 'i-raven'),
    ]);
    expect(table).toContain('| CoPINet | RAVEN | 91.4 | 83.0 / – | 80.0 / – | 81.0 / – |');
    expect(table).toContain('| CoPINet | I-RAVEN | 46.1 | – / 43.0 | – / 40.0 | – / 41.0 |');
    expect(table).toContain('| SRAN | I-RAVEN | 60.8 | – |');
    expect(table).not.toContain('| SRAN | RAVEN |');
    expect(table).not.toContain('DRT');
  });

  test('of systems on given data take those alone', () => {
    const made = readTraining({
      system: 'scl',
      preset: 'paper',
      configuration: 'center',
      tag: 'sets',
    });
    const selection = made.evaluation.selection?.map(({ seed: _, ...set }) => set);
    const given = { ...made, evaluation: { ...made.evaluation, selection } };
    expect(rendered('systems-given', all, [...trainings, given])).toContain(
      '| SCL | `paper` | – | 50.0 / 25.0 |',
    );
    expect(rendered('systems-given')).toBe('Not trained yet.');
  });

  test('say that nothing was measured', () => {
    expect(rendered('gsa', [])).toBe('Not measured yet.');
    expect(rendered('systems-training', all, [])).toBe('Not trained yet.');
    const nothing = { models: [], trainings: [] };
    // What is there was measured once: it stays.
    for (const name of ['gsa', 'systems']) {
      expect(renderResults(marked(name), nothing)).toBe(marked(name));
    }
  });

  test('must be known and closed', () => {
    expect(() => renderResults(marked('beauty'), measured)).toThrow(
      /measured:beauty.*expected one of/,
    );
    expect(() => renderResults('<!-- measured:gsa -->', measured)).toThrow(/gsa --> is not closed/);
    expect(() => renderResults('<!-- /measured -->', measured)).toThrow(/closes nothing/);
    expect(() =>
      renderResults('<!-- measured:gsa --><!-- measured:ari --><!-- /measured -->', measured),
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
    const older = { ...evaluationOf('up-down', 0.5), name: 'older' };
    await writeMeasured(folder, [evaluationOf('center', 0.5), other, older]);
    await writeMeasured(folder, [evaluationOf('up-down', 0.5)]);
    // That of the same configuration makes way, others stay.
    expect(readdirSync(folder)).toEqual(['center-scl.json', 'center.json', 'up-down.json']);
    for (const name of ['center-scl', 'center']) rmSync(path.join(folder, `${name}.json`));
    expect(readFileSync(file, 'utf8')).not.toMatch(/somewhere|seconds/);
    const [model] = await readMeasured(folder);
    expect(model).toMatchObject({ name: 'up-down', system: 'crab', selection: [{}, {}, {}] });
    writeFileSync(path.join(docs, 'results.md'), marked('errors'));
    expect(await updateResults(docs)).toEqual({
      changed: true,
      hasPlaces: true,
      figures: [],
      trainings: 0,
    });
    expect(readFileSync(path.join(docs, 'results.md'), 'utf8')).toContain('| U-D | 0.0050 |');
    expect(await updateResults(docs)).toMatchObject({ changed: false });
  });

  test('must be what they say', async () => {
    const folder = scratchFolder();
    expect(await readMeasured(path.join(folder, 'none'))).toEqual([]);
    writeFileSync(path.join(folder, 'a.json'), '{"format":"other"}');
    await expect(readMeasured(folder)).rejects.toThrow(/a\.json: format: expected/);
    writeFileSync(path.join(folder, 'a.json'), 'hello');
    await expect(readMeasured(folder)).rejects.toThrow(/a\.json is not JSON/);
  });

  test.each([
    ['conditions', undefined, /conditions: expected an object, found nothing/],
    ['selection.0.sa', 0.9, /selection\[0\]\.sa: expected an object, found 0\.9/],
    ['selection.0.sa.value', 90, /sa\.value: expected a number from 0 to 1, found 90/],
    ['gsa.points', 7, /gsa\.points: expected a list, found 7/],
    ['configuration', 'middle', /configuration: expected one of center/],
    ['ari.matrix.best.1.attribute', null, /best\[1\]\.attribute: expected a text, found null/],
    ['vd.names.0.score', 'high', /names\[0\]\.score: expected a number/],
    ['readback.obeys', [], /readback\.obeys: expected an object/],
    ['rules', 5, /rules: expected an object, found 5/],
  ])('and whole: %s cannot be %j', async (place, value, message) => {
    const model = JSON.parse(
      readFileSync(path.join(DOCS, 'measured', 'center.json'), 'utf8'),
    ) as object;
    const keys = place.split('.');
    const last = keys.pop() ?? '';
    const holder = keys.reduce(
      (at, key) => at[key] as Record<string, unknown>,
      model as Record<string, unknown>,
    );
    holder[last] = value;
    const folder = scratchFolder();
    writeFileSync(path.join(folder, 'center.json'), JSON.stringify(model));
    await expect(readMeasured(folder)).rejects.toThrow(message);
  });
});

describe('figures of systems', () => {
  test('are drawn of what there is, for light and dark pages', () => {
    const names = (trained: readonly MeasuredTraining[]): string[] => [
      ...systemFigureFiles(trained).keys(),
    ];
    expect(names([])).toEqual([]);
    expect(names(trainings)).toEqual(
      ['raven-against-i-raven', 'learning', 'learning-endless', 'gsa'].flatMap((name) =>
        ['light', 'dark'].map((theme) => `images/systems/${name}-${theme}.svg`),
      ),
    );
    const [light, dark] = systemFigureFiles(trainings).values();
    expect(light).toMatch(/^<svg [^>]*aria-label="Accuracy on RAVEN against I-RAVEN: ANP, SCL"/);
    expect(light).toContain('>Center<');
    expect(light).not.toMatch(/NaN|undefined|var\(/);
    expect(dark).not.toBe(light);
    const shown = rendered('systems-figure-gsa');
    expect(shown).toContain('<img src="images/systems/gsa-light.svg" alt="Global selection');
    expect(rendered('systems-figure-gsa-endless')).toBe('Not trained yet.');
  });

  test('go when their trainings go', async () => {
    const docs = scratchFolder();
    await writeSystemFigures(docs, trainings);
    const folder = path.join(docs, 'images', 'systems');
    expect(readdirSync(folder)).toHaveLength(8);
    await writeSystemFigures(docs, trainings.slice(0, 1));
    expect(readdirSync(folder)).toEqual(['learning-dark.svg', 'learning-light.svg']);
    // Those of somebody else stay, and then none is written.
    rmSync(path.join(folder, 'learning-dark.svg'));
    writeFileSync(path.join(folder, 'gsa-dark.svg'), '<svg />');
    await expect(writeSystemFigures(docs, trainings)).rejects.toThrow(
      /gsa-dark\.svg is not a figure that crab drew/,
    );
    expect(readdirSync(folder)).toEqual(['gsa-dark.svg', 'learning-light.svg']);
  });

  test('crab report --systems writes them and the tables', async () => {
    const docs = scratchFolder();
    const folder = path.join(docs, 'measured', 'systems');
    mkdirSync(folder, { recursive: true });
    const report = (...args: string[]): Promise<string> =>
      crab('report', '--systems', '--docs', docs, ...args);
    await expect(report()).rejects.toThrow(/--docs .*results\.md: no such file/);
    writeFileSync(path.join(docs, 'results.md'), marked('systems'));
    const [told] = trainings;
    writeFileSync(path.join(folder, `${trainingName(told)}.json`), JSON.stringify(told));
    expect(JSON.parse(await report('--json'))).toMatchObject({ trainings: 1, changed: true });
    expect(readFileSync(path.join(docs, 'results.md'), 'utf8')).toContain('| SCL | 95.1 / 85.7 |');
    expect(await report()).toContain('results.md is up to date\nimages/systems/learning-light.svg');
    writeFileSync(path.join(docs, 'results.md'), '# Notes\n');
    expect(await report()).toContain('results.md has no place for a table');
    // Without trainings nothing is emptied: they may have been moved away.
    const apart = scratchFolder();
    writeFileSync(path.join(apart, 'results.md'), marked('systems'));
    mkdirSync(path.join(apart, 'images', 'systems'), { recursive: true });
    const figure = path.join('images', 'systems', 'learning-light.svg');
    copyFileSync(path.join(docs, figure), path.join(apart, figure));
    expect(await crab('report', '--systems', '--docs', apart)).toMatch(
      /^no trainings in .*systems: tables and figures .* stay as they are\nresults.md is up to date\n$/,
    );
    expect(readFileSync(path.join(apart, 'results.md'), 'utf8')).toBe(marked('systems'));
    expect(existsSync(path.join(apart, figure))).toBe(true);
    const systems = await describeSystems(docs);
    expect(systems.find(({ name }) => name === 'scl')?.measured).toEqual([
      { preset: 'paper', configurations: 1, sa: { raven: 0.9, 'i-raven': 0.8 } },
    ]);
    writeFileSync(path.join(folder, 'scl-paper-up-down.json'), '{}');
    await expect(report()).rejects.toThrow(/scl-paper-up-down\.json: format: expected/);
  });
});

test('docs has exactly the figures of its trainings', async () => {
  const { trainings: trained } = await readMeasurements(DOCS);
  const folder = path.join(DOCS, 'images', 'systems');
  const found = existsSync(folder) ? readdirSync(folder) : [];
  const expected = [...systemFigureFiles(trained).keys()].map((file) => path.basename(file));
  expect(found.sort()).toEqual(expected.sort());
});

test('docs/results.md is what the command writes', async () => {
  const document = readFileSync(path.join(DOCS, 'results.md'), 'utf8');
  expect(document).toContain('<!-- measured:selection -->');
  expect(document).toContain('<!-- measured:systems -->');
  expect(renderResults(document, await readMeasurements(DOCS))).toBe(document);
});
