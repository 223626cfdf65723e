/** Cards of models: what stands in them is what bundles and measurements say. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  CARD_FILE,
  measuredOf,
  renderModelCard,
  renderZooCard,
  reportZoo,
  writeMeasured,
  writeZooCards,
  zooCards,
  type MeasuredModel,
  type ModelEvaluation,
} from '../../src/lab/index.js';
import { CONFIGURATIONS, type Configuration } from '../../src/matrix/index.js';
import { crabConfig, type CrabConfig } from '../../src/models/index.js';
import { manifestHash } from '../../src/lab/conditions.js';
import { recipeWords } from '../../src/lab/card/training-facts.js';
import { Zoo } from '../../src/server/zoo.js';
import {
  folderSource,
  listZoo,
  openBundle,
  writeBundle,
  zooFolder,
  type BundleManifest,
} from '../../src/solver/node.js';
import { randomBundle, tinyConfig } from '../solver/random-model.js';
import { scratchFolder } from '../scratch-folder.js';
import { crabInProcess } from '../cli/crab-in-process.js';
import { exampleEvaluation } from './report/example-model.js';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
const BROKEN = /NaN|undefined|null|\[object|Infinity/;
const TRAINING = { preset: 'crab', steps: 900, seed: 3, device: 'cuda', data: 'stream' } as const;
/** The facts of a training with a configuration. */
const trained = (config: CrabConfig) => ({
  ...TRAINING,
  preset: config.preset,
  config: JSON.stringify(config),
});

/** The manifest of a bundle that the `crab` preset gives, of two million bytes. */
function manifestOf(
  configuration: Configuration = 'center',
  changes: Partial<BundleManifest> = {},
): BundleManifest {
  const { network, objective } = crabConfig('crab', configuration, { noisy: changes.noisy });
  const { concepts, conceptSize, ruleSize } = network;
  const file = { bytes: 1_000_000, sha256: '0'.repeat(64) };
  return {
    format: 'crab-bundle',
    version: 1,
    name: changes.noisy ? `${configuration}-noisy` : configuration,
    configuration,
    noisy: false,
    sizes: { concepts, conceptSize, ruleSize },
    weights: 'int8',
    compact: true,
    sigmaZ: objective.sigmaZ,
    conceptNames: Array.from({ length: concepts }, () => null),
    accuracy: {
      sa: { raven: 0.99, 'i-raven': 0.95 },
      saL2: { raven: 0.961, 'i-raven': 0.974 },
      problems: 1000,
    },
    training: trained(crabConfig('crab', configuration, { noisy: changes.noisy })),
    files: { 'encoder.onnx': file, 'reasoner.onnx': file },
    ...changes,
  };
}

/** Measurements of that bundle. */
function measurementOf(
  manifest: BundleManifest,
  changes: Partial<ModelEvaluation> = {},
): MeasuredModel {
  const { name, noisy, sizes, training, configuration } = manifest;
  const example = exampleEvaluation(configuration);
  const conditions = { ...example.conditions, bundle: manifestHash(manifest) };
  return measuredOf({ ...example, name, noisy, sizes, training, conditions, ...changes });
}

/** Cells of every table line, `\|` being no border. */
const tablesOf = (card: string): string[][] =>
  card
    .split('\n\n')
    .filter((part) => part.startsWith('|'))
    .map((part) => part.trimEnd().split('\n'));
const width = (line: string): number => line.split(/(?<!\\)\|/).length;

function expectWhole(card: string): void {
  expect(card).not.toMatch(BROKEN);
  for (const lines of tablesOf(card)) {
    expect(lines.length).toBeGreaterThan(2);
    expect(new Set(lines.map(width)).size).toBe(1);
  }
}

const weaknessesOf = (card: string): string => card.split('## Known weaknesses')[1];

describe('a card without measurements', () => {
  test('tells what the manifest does, beside the paper', () => {
    const card = renderModelCard(manifestOf(), null, { published: true });
    expectWhole(card);
    expect(card).toContain('| fresh problems | RAVEN | 1,000 | 99.0 | 96.1 | 96.6 |');
    expect(card).toContain('| fresh problems | I-RAVEN | 1,000 | 95.0 | 97.4 | 97.1 |');
    expect(card).toContain('2.0 MB, one byte a weight');
    expect(card).toContain('crab solve matrix.png --model center ');
    expect(card).toContain(
      'crab train --config center --preset crab --device cuda --steps 900 --seed 3 --out RUN\ncrab export RUN --out center --compact\n',
    );
    expect(card).toContain('Hardware: one NVIDIA H200.');
    expect(weaknessesOf(card)).toContain(
      'Not measured: arbitrary positions, errors in pixels, agreement of rules, whether imagined panels obey the rules and whether',
    );
  });

  test('describes the preset it was trained with', () => {
    const { optimizer, rulePrior } = crabConfig('crab', 'center');
    const card = renderModelCard(manifestOf(), null);
    expect(card).toContain(`in batches of ${optimizer.batchSize} problems; learning rate`);
    expect(card).toContain(`refitted every ${rulePrior.refitEvery} steps`);
    expect(card).toContain('rule regulariser 10, target regulariser 10;');
    const paper = crabConfig('paper', 'center');
    const small = renderModelCard(
      manifestOf('center', { training: trained(paper), sigmaZ: paper.objective.sigmaZ }),
      null,
    );
    expect(small).toContain('RMSprop in batches of 512 problems; learning rate 0.0003.');
    expect(small).toContain('a set of one missing panel is drawn.');
    const { targets, ...recipe } = crabConfig('crab', 'center');
    const words = recipeWords({ ...recipe, targets: { ...targets, max: 3, smallestSets: 3 } });
    expect(words.join()).toContain(
      'For every matrix three sets of one missing panel and a set of one to three missing panels are drawn;',
    );
  });

  test('prints the whole command, with what the preset of today gives otherwise', () => {
    const overrides = { objective: { sigmaZ: 0.7 }, optimizer: { batchSize: 64 } };
    const training = {
      ...trained(crabConfig('crab', 'center', { overrides })),
      pool: 5000,
      refresh: 12.5,
      runSteps: 1200,
      validateEvery: 100,
      precision: 'f32',
      deterministic: 'yes',
    };
    const card = renderModelCard(manifestOf('center', { sigmaZ: 0.7, training }), null);
    expect(card).toContain(
      `crab train --config center --preset crab --overrides '${JSON.stringify(overrides)}' --device cuda ` +
        '--precision f32 --deterministic --steps 1200 --seed 3 --pool 5000 --refresh 12.5 ' +
        '--validate-every 100 --out RUN\n',
    );
    expect(card).toContain('preset `crab`, with changes. Adam in batches of 64 problems');
    const plain = renderModelCard(manifestOf(), null);
    expect(plain).not.toContain('--overrides');
    expect(plain).toContain('preset `crab`. Adam');
  });

  test.each([
    ['no configuration', TRAINING],
    ['none that can be read', { ...TRAINING, config: '{"network":{"color":1}}' }],
    ['that of another model', trained(crabConfig('crab', 'grid-2x2'))],
    [
      'other sizes',
      trained(crabConfig('crab', 'center', { overrides: { network: { concepts: 7 } } })),
    ],
  ])('claims no recipe if the facts tell %s', (_, training) => {
    const card = renderModelCard(manifestOf('center', { training }), null);
    expect(card).toContain('preset `crab`, its settings not recorded.');
    expect(card).not.toMatch(/--overrides '|in batches of/);
  });

  test('says what was not recorded', () => {
    const own = renderModelCard(manifestOf('center', { training: { preset: 'mine' } }), null);
    expect(own).toContain('Recipe: preset `mine`, its settings not recorded.');
    expect(own).toContain('Hardware: not recorded.');
    expect(own).toContain('Data: not recorded.');
    expect(renderModelCard(manifestOf('center', { training: {} }), null)).toContain(
      'Recipe: not recorded.',
    );
  });

  test('has the length of the run, which may go on after its weights', () => {
    const cardOf = (facts: object): string =>
      renderModelCard(manifestOf('center', { training: { ...TRAINING, ...facts } }), null);
    const card = cardOf({ runSteps: 1000, seconds: 126 });
    expect(card).toContain(
      '1,000 steps; the weights are those of step 900, 2.1 minutes after the start.',
    );
    expect(card).toContain('--steps 1000 ');
    expect(cardOf({ seconds: 30 })).toContain('Length: 900 steps, 0.5 minutes.');
    expect(cardOf({})).toContain('900 steps, minutes not recorded.');
  });

  test('knows noisy grids, other weights and other devices', () => {
    const noisy = manifestOf('grid-2x2', {
      noisy: true,
      compact: false,
      weights: 'f16',
      training: { ...TRAINING, device: 'cpu', data: 'set' },
    });
    const card = renderModelCard(noisy, null);
    expectWhole(card);
    expect(card).toContain('--config grid-2x2 --noisy --data SET --preset');
    expect(card).toContain('crab export RUN --out grid-2x2-noisy --weights f16\n');
    expect(card).toContain('Hardware: `cpu`.');
    expect(card).toContain('| fresh problems | RAVEN | 1,000 | 99.0 | 96.1 | – |');
    expect(card).not.toMatch(/Below the paper|It has seen no noise/);
    expect(renderModelCard(manifestOf('grid-2x2'), null)).toContain('It has seen no noise');
  });

  test('says only where it is from that it is one of ours', () => {
    const card = renderModelCard(manifestOf(), null);
    expect(card).not.toContain('H200');
    expect(card).toContain('crab solve matrix.png --model FOLDER ');
  });

  test('keeps what files say as text', () => {
    const name = 'a|b<script>[x](y)`z`\n# c';
    const training = { ...TRAINING, device: '`x` | rm', libtorch: '<b>|' };
    const conceptNames = manifestOf().conceptNames.map(() => ({ name, score: 1 }));
    const card = renderModelCard(manifestOf('center', { name, training, conceptNames }), null);
    expectWhole(card);
    expect(card).not.toMatch(/<script|<b>|\n# c|(?<!\\)\[x/);
    expect(card).toContain('--out BUNDLE');
    expect(card).not.toContain('--device');
  });
});

test('a card of a system without rules tells no concepts, and has its own row of the paper', () => {
  const card = renderModelCard(
    {
      ...manifestOf('center'),
      system: 'transformer',
      sizes: { concepts: 1, conceptSize: 256, ruleSize: 0 },
      conceptNames: [null],
    },
    null,
  );
  expect(card).toContain('A Transformer model of');
  expect(card).toContain('one vector of 256 values and tells no concepts and no rules');
  expect(card).not.toContain('## Concepts and rules');
  expect(card).not.toMatch(/oncept 1|agreement of rules/);
  expect(card).toContain('crab train --system transformer --config');
  expect(card).toMatch(/\| RAVEN \|.*\| 98\.4 \|/);
});

describe('weaknesses', () => {
  test('are the lowest figure, those below the paper, and a distance worse than L2', () => {
    const told = weaknessesOf(renderModelCard(manifestOf(), null));
    expect(told).toContain('Lowest accuracy: 95.0% on I-RAVEN candidates by its own distance.');
    expect(told).toContain(
      'Below the paper: 96.1 instead of 96.6 on RAVEN candidates by plain L2 (fresh problems); 95.0 instead of 97.1 on I-RAVEN candidates by its own distance (fresh problems).',
    );
    expect(told).toContain('worse than plain L2 on I-RAVEN candidates: 95.0% instead of 97.4%.');
    const good = manifestOf('center', {
      accuracy: {
        sa: { raven: 0.99, 'i-raven': 0.99 },
        saL2: { raven: 0.966, 'i-raven': 0.971 },
        problems: 10,
      },
    });
    expect(renderModelCard(good, null)).not.toMatch(/Below the paper|worse than/);
    const unknown = renderModelCard(manifestOf('center', { accuracy: null }), null);
    expect(unknown).toContain('## Accuracy\n\nNot measured yet.');
    expect(weaknessesOf(unknown)).toContain('Its accuracy has not been measured.');
  });

  test('are concepts that stand for nothing, and attributes without one', () => {
    const named = (...names: string[]): string => {
      const conceptNames = names.map((name) => ({ name, score: 0.5 }));
      return weaknessesOf(renderModelCard(manifestOf('center', { conceptNames }), null));
    };
    const some = named('Size a', 'unused', 'mixed', 'unused');
    expect(some).toContain('Concepts 2 and 4 are unused.');
    expect(some).toContain('Concept 3 is mixed');
    expect(some).toContain('No concept stands for Type and Color alone.');
    expect(named('Size', 'Type', 'Color', 'Rotation')).not.toMatch(/unused|mixed|No concept/);
    expect(weaknessesOf(renderModelCard(manifestOf(), null))).toContain(
      'Concepts 1, 2, 3 and 4 are not named.',
    );
  });
});

describe('a card with measurements', () => {
  const manifest = manifestOf();
  const measured = measurementOf(manifest);

  test('has them with their intervals', () => {
    const card = renderModelCard(manifest, measured);
    expectWhole(card);
    expect(card).toContain(
      '| center, raven &lt;made up> | RAVEN | 1,000 | 97.0 [96.0, 98.0] | 95.0 [94.0, 96.0] | 96.6 |',
    );
    expect(card).not.toContain('| fresh problems |');
    expect(card).toContain('| panels missing | 2 candidates | 4 candidates | 8 candidates | 16');
    expect(card).toContain('| 3 | 92.5 / 89.5 | 91.0 / 88.0 | 89.5 / 86.5 | 88.0 / 85.0 |');
    expect(card).toContain('| the paper | 0.73 | 0.60 | 0.61 | 0.99 | – |');
    const told = weaknessesOf(card);
    expect(told).toContain('least right with 3 panels missing among 16 candidates, 88.0%');
    expect(told).toContain('10.0% of the panels it imagines break a rule or cannot be read (2.0%');
    expect(told).toContain('most often wrong: Type, right in 95.0% of readable ones.');
    expect(told).not.toMatch(/hardly tell apart|agree less|drawn less exactly|Not measured/);
  });

  test('names rules that run together and panels drawn worse elsewhere', () => {
    const { ari, errors } = measured;
    if (ari === null || errors === null) throw new Error('the example has both');
    const best = ari.matrix.best.map((each, v) => (v === 1 ? { ...each, ari: 0.21 } : each));
    const far = { value: 0.05, low: 0.04, high: 0.06 };
    const card = renderModelCard(manifest, {
      ...measured,
      gsa: null,
      ari: { ...ari, matrix: { ...ari.matrix, best, average: 0.7 } },
      errors: {
        ...errors,
        predictionAnywhere: { meanSquared: far, meanAbsolute: far },
      },
    });
    expect(weaknessesOf(card)).toContain('adjusted Rand index 0.70 instead of 0.73.');
    expect(weaknessesOf(card)).toContain('index under 0.5): Size (0.21).');
    expect(weaknessesOf(card)).toContain('mean squared error 0.050 instead of 0.020.');
    expect(weaknessesOf(card)).toContain('Not measured: arbitrary positions.');
    expect(card).not.toContain('panels missing');
  });

  test('leaves out those of a model that was trained otherwise', () => {
    const other = measurementOf(manifestOf('center', { training: { ...TRAINING, seed: 4 } }));
    expect(renderModelCard(manifest, other)).toBe(renderModelCard(manifest, null));
    expect(renderModelCard(manifest, measurementOf(manifestOf('up-down')))).toBe(
      renderModelCard(manifest, null),
    );
  });
});

describe('the table of a zoo', () => {
  const model = (configuration: Configuration, noisy = false) => {
    const manifest = manifestOf(configuration, { noisy });
    return { folder: manifest.name, manifest, measured: null };
  };

  test('has a line for each model in order, and averages where all seven are there', () => {
    const seven = [...CONFIGURATIONS].reverse().map((each) => model(each));
    const text = renderZooCard([model('grid-3x3', true), ...seven]);
    expectWhole(text);
    const [lines] = tablesOf(text);
    const names = [...CONFIGURATIONS, 'grid-3x3-noisy'];
    const links = names.map((name) => `[${name}](${name}/README.md)`);
    expect(lines.slice(2, -1).map((line) => line.split(' | ')[0].slice(2))).toEqual(links);
    expect(lines.at(-1)).toBe(
      '| the seven |  | 14.0 in all | 99.0 / 95.0 | 96.1 / 97.4 | 94.7 / 95.9 |  |  |  |',
    );
    expect(renderZooCard(seven.slice(1))).not.toContain('the seven');
  });

  test('takes the result on most problems', () => {
    const manifest = manifestOf();
    const share = (value: number) => ({ value, low: value, high: value });
    const row = (count: number, value: number) =>
      ({ data: 'x', variant: 'raven', count, sa: share(value), saL2: share(value) }) as const;
    const measured = measurementOf(manifest, { selection: [row(10, 0.1), row(5000, 0.9)] });
    const text = renderZooCard([{ ...model('center'), manifest, measured }]);
    expect(text).toContain('| 90.0 / – | 90.0 / – | 96.6 / 97.1 | 5,000 | 900 | – |');
  });
});

describe('cards in a folder', () => {
  const PAIR: readonly Configuration[] = ['center', 'up-down'];

  async function smallZoo(...only: Configuration[]) {
    const folder = scratchFolder();
    const zoo = path.join(folder, 'zoo');
    for (const configuration of only.length > 0 ? only : PAIR) {
      const { manifest, files } = randomBundle(tinyConfig(configuration));
      await writeBundle(path.join(zoo, configuration), manifest, files);
    }
    const docs = path.join(folder, 'docs');
    mkdirSync(path.join(docs, 'measured'), { recursive: true });
    return { zoo, docs, card: (name: string) => path.join(zoo, name, CARD_FILE) };
  }

  test('are written once, use what was measured, and leave bundles whole', async () => {
    const { zoo, docs, card } = await smallZoo();
    const { manifest } = await openBundle(folderSource(path.join(zoo, 'center')));
    const example = exampleEvaluation('center');
    const conditions = { ...example.conditions, bundle: manifestHash(manifest) };
    const evaluation = { ...example, conditions };
    await writeMeasured(path.join(docs, 'measured'), [evaluation]);
    const files = [card('center'), card('up-down'), path.join(zoo, CARD_FILE)];
    expect(await writeZooCards({ zoo, docs })).toEqual(files);
    expect(await writeZooCards({ zoo, docs })).toEqual([]);
    expectWhole(readFileSync(card('center'), 'utf8'));
    expect(readFileSync(card('center'), 'utf8')).toContain('97.0 [96.0, 98.0]');
    expect(readFileSync(card('up-down'), 'utf8')).toContain('Not measured yet.');
    expect(await listZoo(zoo)).toEqual(['center', 'up-down']);
    expect(await openBundle(folderSource(path.join(zoo, 'center')))).toHaveProperty('manifest');
    const { bundles } = await new Zoo([zoo]).index();
    expect(bundles.map((each) => each.name)).toEqual(['center', 'up-down']);
    const links = [...readFileSync(files[2], 'utf8').matchAll(/\]\(([^)]+)\)/g)];
    expect(links.map(([, link]) => existsSync(path.join(zoo, link)))).toEqual([true, true]);
  });

  test('are written with the tables of the documents', async () => {
    const { zoo, docs, card } = await smallZoo('center');
    writeFileSync(
      path.join(docs, 'results.md'),
      '<!-- measured:selection -->\n<!-- /measured -->\n',
    );
    await reportZoo({ zoo, docs, out: path.join(docs, 'out'), count: 8, metrics: ['sa'] });
    const text = readFileSync(card('center'), 'utf8');
    expectWhole(text);
    expect(text).toMatch(/\| fresh problems of our generator, seed \d+ \| RAVEN \| 8 \| [\d.]+ \[/);
    expect(readFileSync(path.join(zoo, CARD_FILE), 'utf8')).toContain('(center/README.md)');
    expect(await writeZooCards({ zoo, docs })).toEqual([]);
  });

  test('are not written for a damaged bundle, and need the folders they are told', async () => {
    const { zoo, card } = await smallZoo();
    await expect(writeZooCards({ zoo: scratchFolder() })).rejects.toThrow(/no bundles in/);
    await expect(writeZooCards({ zoo, docs: path.join(zoo, 'no') })).rejects.toThrow(/--docs .*no/);
    writeFileSync(path.join(zoo, 'up-down', 'history.json'), '{"curves":[ ]}');
    await expect(writeZooCards({ zoo })).rejects.toThrow(/history\.json/);
    expect(existsSync(card('center'))).toBe(false);
  });

  test('are written by crab report --cards, which measures nothing', async () => {
    const { zoo, docs, card } = await smallZoo();
    const report = (...args: string[]) => crabInProcess('report', '--zoo', zoo, '--cards', ...args);
    const first = await report('--docs', docs, '--json');
    const second = await report('--docs', docs);
    const cards = [card('center'), card('up-down'), path.join(zoo, CARD_FILE)];
    expect(JSON.parse(first)).toEqual({ cards });
    expect(second).toBe('all cards are up to date\n');
    expect(existsSync(path.join(docs, 'results.md'))).toBe(false);
  });

  test('never replace what somebody else wrote', async () => {
    const { zoo, docs, card } = await smallZoo();
    writeFileSync(card('up-down'), '# My notes');
    await expect(writeZooCards({ zoo, docs })).rejects.toThrow(
      /README\.md is not a card that crab/,
    );
    expect(readFileSync(card('up-down'), 'utf8')).toBe('# My notes');
    expect(existsSync(card('center'))).toBe(false);
  });
});

const published = await listZoo();
/** Bundles come first; from the first card on, all of them have one. */
const cards = published.length === 0 ? [] : await zooCards({ docs: DOCS });
const begun = cards.some(({ file }) => existsSync(file));

describe('cards of the zoo', () => {
  test.skipIf(!begun)('every bundle has one', () => {
    expect(cards.filter(({ file }) => !existsSync(file))).toEqual([]);
  });

  test
    .skipIf(!begun)
    .each(cards.map(({ file, text }) => [path.relative(zooFolder(), file), file, text]))(
    'zoo/%s is what the command writes',
    (_, file, text) => {
      expect(readFileSync(file, 'utf8')).toBe(text);
      expectWhole(text);
    },
  );
});
