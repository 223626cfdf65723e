import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conditionsOf, describeData, isMadeUnder } from '../../../src/lab/conditions.js';
import { evaluateModel } from '../../../src/lab/evaluate.js';
import type { ModelEvaluation } from '../../../src/lab/evaluation.js';
import {
  generatedSource,
  openSubject,
  reportZoo,
  writeReport,
  type BundleSubject,
  type ZooOptions,
  type ZooReport,
} from '../../../src/lab/index.js';
import { extremes, mainDirection } from '../../../src/lab/report/extremes.js';
import { FIGURE_ID } from '../../../src/lab/report/model-figures.js';
import { attributeOf, ruleMapsData, rulePriorsData } from '../../../src/lab/report/rule-data.js';
import { zooPage } from '../../../src/lab/report/zoo-page.js';
import {
  CONFIGURATIONS,
  encodeSet,
  problemToBatch,
  Random,
  sampleProblem,
} from '../../../src/matrix/index.js';
import { writeBundle } from '../../../src/solver/node.js';
import { CHROMIUM, launch } from '../../chromium.js';
import { scratchPlaces } from '../../scratch-folder.js';
import { lookAt } from './browser.js';
import { exampleBundle, exampleEvaluation, exampleSubject } from './example-model.js';

const at = scratchPlaces();

let subject: BundleSubject;
const evaluation = exampleEvaluation('center');

beforeAll(async () => {
  subject = await exampleSubject('center');
  await writeReport(evaluation, at('center.html'), { model: subject, figures: at('figures') });
  for (const configuration of ['center', 'up-down'] as const) {
    const { manifest, files } = exampleBundle(configuration);
    await writeBundle(at('zoo', configuration), manifest, files);
  }
});
afterAll(() => subject.dispose());

const RESULTS = 'prose\n\n<!-- measured:selection -->\n<!-- /measured -->\n';
const BROKEN = /NaN|undefined|\[object/;
/** Letters of a picture may spell anything. */
const withoutPictures = (page: string): string => page.replaceAll(/base64,[^"]*/g, '');

const MODEL_FIGURES = [
  'answer-selection-1',
  'answer-selection-2',
  'answer-selection-3',
  'arbitrary-positions',
  'gsa',
  'concepts-interpolation',
  'rule-maps',
  'rule-prior-1',
  'rule-prior-2',
  'rule-prior-3',
  'rule-prior-4',
  'rule-agreement',
  'training-curves',
];

describe('the report of a model', () => {
  test('every figure is also a file, SVG and PNG', () => {
    const expected = MODEL_FIGURES.flatMap((id) => [`${id}.png`, `${id}.svg`]).sort();
    expect(readdirSync(at('figures')).sort()).toEqual(expected);
    expect(MODEL_FIGURES.every((id) => FIGURE_ID.test(id))).toBe(true);
  });

  test('what files say is text, never markup', () => {
    const page = readFileSync(at('center.html'), 'utf8');
    expect(page).not.toContain('<b>not markup</b>');
    expect(page).toContain('&lt;b&gt;not markup&lt;/b&gt;');
    expect(page).not.toContain('<script');
  });

  test('a model of which little was measured has a page too', async () => {
    const bare: ModelEvaluation = {
      ...evaluation,
      selection: null,
      gsa: null,
      errors: null,
      ari: null,
      vd: null,
      readback: null,
      examples: [],
      history: [],
    };
    await writeReport(bare, at('bare.html'), { model: subject });
    const page = readFileSync(at('bare.html'), 'utf8');
    expect(page).toContain('Not measured.');
    expect(page).toContain('id="arbitrary-positions"');
    expect(page).not.toContain('id="gsa"');
    expect(withoutPictures(page)).not.toMatch(BROKEN);
  });

  test('an interrupted report leaves nothing', async () => {
    const stop = AbortSignal.abort();
    await expect(
      writeReport(evaluation, at('never.html'), { model: subject, signal: stop }),
    ).rejects.toThrow(/abort/i);
    expect(readdirSync(at()).some((name) => name.includes('never'))).toBe(false);
  });
});

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  test.each(['light', 'dark'] as const)('the %s page is whole', async (scheme) => {
    const seen = await lookAt(browser, at('center.html'), scheme);
    expect(seen.complaints).toEqual([]);
    expect(seen.requests).toEqual([pathToFileURL(at('center.html')).href]);
    expect(seen.figures.map(({ id }) => id)).toEqual(MODEL_FIGURES);
    for (const figure of seen.figures) {
      expect(figure.width).toBeGreaterThan(150);
      expect(figure.height).toBeGreaterThan(80);
      expect(figure.marks).toBeGreaterThan(12);
      expect(figure.broken).toBe(0);
      expect(figure.caption.length).toBeGreaterThan(30);
    }
    expect(seen.barriers).toEqual([]);
    expect(seen.tooWide).toBe(false);
    const shade = Number(/\d+/.exec(seen.background)?.[0]);
    if (scheme === 'dark') expect(shade).toBeLessThan(60);
    else expect(shade).toBeGreaterThan(200);
  });

  test('a zoo has a page for all and one for each', async () => {
    mkdirSync(at('docs'));
    writeFileSync(at('docs', 'results.md'), RESULTS);
    const { evaluations } = await reportZoo({
      zoo: at('zoo'),
      out: at('out'),
      docs: at('docs'),
      count: 8,
      problems: 32,
      repeats: 1,
      metrics: ['sa', 'gsa', 'ari'],
    });
    expect(evaluations.map(({ name }) => name)).toEqual(['center', 'up-down']);
    for (const [file, fewest] of [
      ['index.html', 4],
      ['center.html', 8],
      ['up-down.html', 8],
    ] as const) {
      const seen = await lookAt(browser, at('out', file));
      expect(seen.complaints).toEqual([]);
      expect(seen.figures.length).toBeGreaterThanOrEqual(fewest);
      expect(seen.figures.every(({ marks, broken }) => marks > 12 && broken === 0)).toBe(true);
      expect(seen.barriers).toEqual([]);
    }
    expect(readdirSync(at('docs', 'measured'))).toEqual(['center.json', 'up-down.json']);
    expect(readFileSync(at('docs', 'results.md'), 'utf8')).toMatch(
      /^prose\n[^]*\| ours, plain L2 \|/,
    );
    const saved = JSON.parse(readFileSync(at('out', 'center.json'), 'utf8')) as ModelEvaluation;
    expect(saved).toEqual(JSON.parse(JSON.stringify(evaluations[0])));
  });
});

describe('the folder of a report', () => {
  const small = { count: 4, problems: 32, repeats: 1 } as const;
  const report = (zoo: string, more: Partial<ZooOptions> = {}): Promise<ZooReport> =>
    reportZoo({ zoo: at(zoo), out: at('kept'), metrics: ['sa'], ...small, ...more });
  const secondsOf = ({ evaluations }: ZooReport) => evaluations.map(({ seconds }) => seconds);

  test('holds one consistent set, whatever was written there before', async () => {
    const { manifest, files } = exampleBundle('center');
    await writeBundle(at('one', 'center'), manifest, files);
    const first = await report('one');
    const figures = readdirSync(at('kept', 'figures', 'center'));

    // Left from other models and other settings; and files of somebody else.
    const text = readFileSync(at('kept', 'center.json'), 'utf8');
    const gone = { ...(JSON.parse(text) as object), name: 'gone' };
    writeFileSync(at('kept', 'gone.json'), JSON.stringify(gone));
    writeFileSync(at('kept', 'copy.json'), text);
    mkdirSync(at('kept', 'figures', 'mine'));
    writeFileSync(at('kept', 'figures', 'mine', 'plot.svg'), '<svg/>');
    copyFileSync(at('kept', 'center.html'), at('kept', 'gone.html'));
    cpSync(at('kept', 'figures', 'center'), at('kept', 'figures', 'gone'), { recursive: true });
    writeFileSync(at('kept', 'figures', 'center', 'mine.svg'), '<svg/>');
    writeFileSync(at('kept', 'notes.json'), '{"mine":true}');
    writeFileSync(at('kept', 'notes.html'), '<p>mine</p>');
    // An earlier page that showed one figure more.
    const page = readFileSync(at('kept', 'center.html'), 'utf8');
    writeFileSync(at('kept', 'center.html'), `${page}<figure id="gsa"></figure>`);
    writeFileSync(at('kept', 'figures', 'center', 'gsa.svg'), '<svg/>');

    // The same again is not measured again: even the times it took are those of before.
    const again = await report('one');
    expect(secondsOf(again)).toEqual(secondsOf(first));
    expect(readdirSync(at('kept')).sort()).toEqual([
      'center.html',
      'center.json',
      'copy.json',
      'figures',
      'index.html',
      'notes.html',
      'notes.json',
    ]);
    expect(readdirSync(at('kept', 'figures')).sort()).toEqual(['center', 'mine']);
    expect(readdirSync(at('kept', 'figures', 'mine'))).toEqual(['plot.svg']);
    expect(readdirSync(at('kept', 'figures', 'center')).sort()).toEqual(
      [...figures, 'mine.svg'].sort(),
    );

    // Another model of the same name is another model.
    const other = { ...manifest, sigmaZ: 2 * manifest.sigmaZ };
    await writeBundle(at('one', 'center'), other, files);
    const replaced = await report('one');
    expect(replaced.evaluations[0].conditions.bundle).not.toBe(
      first.evaluations[0].conditions.bundle,
    );
    expect(readdirSync(at('kept')).sort()).toContain('notes.json');
    expect(readdirSync(at('kept', 'figures', 'center'))).toContain('mine.svg');
  });

  test.each([
    ['center.json', '{"mine":true}'],
    ['center.json', 'not JSON'],
    ['up-down.html', '<p>Written by me, with crab evaluate</p>'],
    ['figures/center/gsa.png', 'mine'],
  ])('is refused where %s is of somebody else (%s)', async (file, content) => {
    rmSync(at('foreign'), { recursive: true, force: true });
    mkdirSync(path.dirname(at('foreign', file)), { recursive: true });
    writeFileSync(at('foreign', file), content);
    const before = readdirSync(at('foreign'), { recursive: true });
    const stages: string[] = [];
    await expect(
      report('zoo', { out: at('foreign'), onProgress: (stage) => stages.push(stage) }),
    ).rejects.toThrow(`it holds ${path.normalize(file)}, which is no report of ours`);
    expect(stages).toEqual([]);
    expect(readdirSync(at('foreign'), { recursive: true })).toEqual(before);
    expect(readFileSync(at('foreign', file), 'utf8')).toBe(content);
  });

  test('figures of somebody else stay where a report is written for the first time', async () => {
    mkdirSync(at('fresh', 'figures', 'center'), { recursive: true });
    writeFileSync(at('fresh', 'figures', 'center', 'my.png'), 'mine');
    writeFileSync(at('fresh', 'notes.json'), '{"mine":true}');
    await report('one', { out: at('fresh') });
    expect(readFileSync(at('fresh', 'figures', 'center', 'my.png'), 'utf8')).toBe('mine');
    expect(readFileSync(at('fresh', 'notes.json'), 'utf8')).toBe('{"mine":true}');
  });

  test('a broken bundle is named, and the others are reported', async () => {
    for (const configuration of ['center', 'up-down'] as const) {
      const { manifest, files } = exampleBundle(configuration);
      await writeBundle(at('half', configuration), manifest, files);
    }
    writeFileSync(at('half', 'center', 'decoder.onnx'), 'damaged');
    const { evaluations, broken } = await report('half', { out: at('half-report') });
    expect(evaluations.map(({ name }) => name)).toEqual(['up-down']);
    expect(broken.map(({ location }) => location)).toEqual([at('half', 'center')]);
    expect(String(broken[0].error)).toMatch(/decoder\.onnx/);
    // Documents are of all models; and where none is left there is no report.
    mkdirSync(at('half-docs'));
    writeFileSync(at('half-docs', 'results.md'), RESULTS);
    await expect(report('half', { out: at('never'), docs: at('half-docs') })).rejects.toThrow(
      /decoder\.onnx/,
    );
    writeFileSync(at('half', 'up-down', 'decoder.onnx'), 'damaged');
    await expect(report('half', { out: at('never') })).rejects.toThrow(/decoder\.onnx/);
    expect(existsSync(at('never'))).toBe(false);
  });

  test('an evaluation stands for another only under the same conditions', async () => {
    const { facts } = subject;
    const request = { configuration: 'center', noisy: false, variant: 'raven', seed: 1 } as const;
    const dataOf = (seed: number, count = 8) =>
      describeData([{ source: generatedSource({ ...request, seed }, count) }]);
    const conditions = conditionsOf(facts, {});
    const saved = { conditions, data: await dataOf(1) };
    expect(isMadeUnder(saved, conditions, await dataOf(1))).toBe(true);
    expect(isMadeUnder(saved, conditions, await dataOf(2))).toBe(false);
    expect(isMadeUnder(saved, conditions, await dataOf(1, 9))).toBe(false);
    expect(isMadeUnder(saved, conditions, [])).toBe(false);
    for (const change of [{ metrics: ['sa'] }, { problems: 64 }, { repeats: 1 }] as const) {
      expect(isMadeUnder(saved, conditionsOf(facts, change), await dataOf(1))).toBe(false);
    }
    // Models that nothing tells apart are never the same.
    const none = conditionsOf({ ...facts, hash: null }, {});
    expect(isMadeUnder({ conditions: none, data: saved.data }, none, saved.data)).toBe(false);
  });

  test('is refused where it is something else, before anything is changed', async () => {
    mkdirSync(at('site'));
    writeFileSync(at('site', 'index.html'), '<p>my page</p>');
    await expect(report('zoo', { out: at('site') })).rejects.toThrow(/no report of ours/);
    expect(readdirSync(at('site'))).toEqual(['index.html']);
  });

  test('two bundles of one name are refused', async () => {
    const { manifest, files } = exampleBundle('center');
    for (const name of ['a', 'b']) await writeBundle(at('twins', name), manifest, files);
    await expect(report('twins', { out: at('never') })).rejects.toThrow(/both called center/);
    expect(existsSync(at('never'))).toBe(false);
  });

  test('data of another configuration are refused', async () => {
    mkdirSync(at('sets'));
    for (const name of ['center', 'up-down']) {
      const problem = sampleProblem({ configuration: 'grid-2x2', seed: 2, index: 3 });
      writeFileSync(at('sets', `${name}.npz`), encodeSet(problemToBatch(problem)));
    }
    await expect(report('zoo', { data: [at('sets')], out: at('never') })).rejects.toThrow(
      /--data .*center\.npz: the data are of .*, the model is for center/,
    );
    expect(existsSync(at('never'))).toBe(false);
  });
});

describe('the page of a zoo', () => {
  const page = (count: number): string =>
    zooPage(CONFIGURATIONS.slice(0, count).map(exampleEvaluation));

  test('averages are given only where all seven are measured', () => {
    const row = (text: string): string => /<td>ours, calibrated<.*?<\/tr>/s.exec(text)?.[0] ?? '';
    expect(row(page(7))).toContain('97.0/97.0');
    expect(row(page(7))).not.toContain('--');
    expect(row(page(2)).match(/--\/--/g)).toHaveLength(6);
  });

  test('says which problems the numbers are of', () => {
    const text = page(2);
    expect(text).toMatch(/<td>center, raven &lt;made up&gt;<\/td>\s*<td>RAVEN<\/td>/);
    const shared = CONFIGURATIONS.slice(0, 2).map((configuration) => ({
      ...exampleEvaluation(configuration),
      data: [{ data: 'fresh, seed 7', variant: 'i-raven' as const, count: 1234 }],
    }));
    const row = /<td>fresh, seed 7<.*?<\/tr>/s.exec(zooPage(shared))?.[0] ?? '';
    expect(row).toContain('I-RAVEN');
    expect(row).toContain('1,234');
    expect(row).toContain('Center, L-R');
  });

  test('links lead to the pages beside it', () => {
    expect(page(2)).toContain('<a href="left-right.html">L-R</a>');
  });
});

describe('what a real evaluation gives', () => {
  test('is enough for a report', async () => {
    const opened = await openSubject(at('zoo', 'center'));
    try {
      const request = { configuration: 'center', noisy: false, variant: 'raven', seed: 1 } as const;
      const measured = await evaluateModel(opened, {
        model: 'center',
        data: [{ source: generatedSource(request, 8), variant: 'raven' }],
        problems: 32,
        repeats: 1,
        panels: 64,
        pictures: 4,
      });
      await writeReport(measured, at('real.html'), { model: opened });
      expect(withoutPictures(readFileSync(at('real.html'), 'utf8'))).not.toMatch(BROKEN);
    } finally {
      await opened.dispose();
    }
  });
});

describe('data behind figures', () => {
  test('the main direction is that of the largest variance', () => {
    const random = new Random(2);
    const unit = (): number => random.next() / 2 ** 32 - 0.5;
    const rows = Array.from({ length: 200 }, () => {
      const along = unit();
      return [3 * along + 0.1 * unit(), 4 * along + 0.1 * unit(), 0.1 * unit()];
    });
    const direction = mainDirection(rows);
    expect(Math.abs(0.6 * direction[0] + 0.8 * direction[1])).toBeGreaterThan(0.999);
    const [from, to] = extremes(rows);
    expect(Math.abs(from[1] - to[1])).toBeGreaterThan(3);
    expect(
      Array.from(
        mainDirection([
          [1, 2],
          [1, 2],
        ]),
      ),
    ).toEqual([0, 0]);
  });

  test('concepts are compared with the attribute they are named after, else with the best', () => {
    expect(attributeOf(evaluation, 'Size', 1)?.name).toBe('Size');
    expect(attributeOf(evaluation, 'mixed', 2)?.name).toBe('Color');
    expect(attributeOf({ ...evaluation, ari: null }, 'mixed', 0)?.name).toBe('Type');
    expect(attributeOf({ ...evaluation, ari: null, vd: null }, 'mixed', 0)).toBeNull();
  });

  test('clusters hold all problems, and the rules they were made of', () => {
    const priors = rulePriorsData(evaluation, subject.ruleMap);
    expect(priors.map(({ concept }) => concept)).toEqual([1, 2, 3, 4]);
    const [type] = priors;
    expect(type.clusters.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
    expect(type.clusters.every(({ purity }) => purity === 1)).toBe(true);
    expect(new Set(type.clusters.map(({ rule }) => rule)).size).toBe(type.clusters.length);
    expect(
      type.clusters.every(({ examples }) => examples.every((panels) => panels.length === 9)),
    ).toBe(true);
  });

  test('maps have the first and the last moment, and leave unused concepts out', () => {
    const unused = {
      ...evaluation,
      vd: evaluation.vd && {
        ...evaluation.vd,
        names: evaluation.vd.names.map((each) =>
          each.concept === 2 ? { ...each, name: 'unused' } : each,
        ),
      },
    };
    const maps = ruleMapsData(unused, subject.ruleMap);
    expect(maps?.steps[0]).toBe(0);
    expect(maps?.steps.at(-1)).toBe(320_000);
    expect(maps?.rows.map(({ concept }) => concept)).toEqual([1, 3, 4]);
    expect(ruleMapsData(unused, null)).toBeNull();
  });
});
