/**
 * Bundles for the page's tests: tiny networks with random weights, and a rule map whose points are real
 * matrices with their true rules, placed so that what concepts stand for is known beforehand: concept 1
 * follows the rule on Type, 2 on Size, 3 on Color, 4 none at all.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatLabel, Random, samplePanels, type Configuration } from '../../src/matrix/index.js';
import type { CrabConfig } from '../../src/models/index.js';
import { formatImagined, formatManifest, type BundleFileName } from '../../src/solver/index.js';
import {
  randomBundle,
  randomTransformer,
  tinyConfig,
  type TestBundle,
} from '../solver/random-model.js';

const POINTS = 60;
export const SOURCE_SEED = 77;
const MOMENTS = [100, 2000];
/** The last step is one at which the model was no better: the bundle has the weights of the last moment. */
const STEPS = [50, 100, 2000, 3000];
/** Errors of a pixel while it is trained, and the log-likelihood of one panel that they make. */
const DRAWING_ERRORS = [0.2, 0.1, 0.015, 0.9];
/** Bits by which a missing panel surprises it. */
const SURPRISES = [90, 60, 5.5, 77];
const TARGETS = { min: 1, max: 1 };
export const logLikelihood = (error: number, sigma = 0.1): number =>
  -4096 * (Math.log(sigma * Math.sqrt(2 * Math.PI)) + error ** 2 / (2 * sigma ** 2));
const HISTORY = {
  curves: [
    {
      name: 'reconstruction',
      steps: STEPS,
      values: DRAWING_ERRORS.map((error) => logLikelihood(error)),
    },
    {
      name: 'targetRegularizer',
      steps: STEPS,
      values: SURPRISES.map((bits) => bits * Math.LN2),
    },
    { name: 'sa raven', steps: [1000, 2000, 3000], values: [0.25, 0.5, 0.4] },
    { name: 'sa i-raven', steps: [1000, 2000, 3000], values: [0.3, 0.75, 0.4] },
    { name: 'rulePrior', steps: STEPS, values: [0, 0, -3, 0] },
  ],
};
/** Names the bundle gives its concepts. */
export const CONCEPT_NAMES = ['Type', 'Size', 'Color', null] as const;

/** Where the rules of one name lie on the plane. */
const CENTRES: Readonly<Record<string, readonly [number, number]>> = {
  Constant: [-1, -1],
  Progression: [1, -1],
  Arithmetic: [1, 1],
  Distribute_Three: [-1, 1],
};
const NAMES = Object.keys(CENTRES);
const SPREAD = 0.08;

/** The one configuration whose bundle keeps the panels painted in training. */
const FILMED: Configuration = 'center';
/** Grey of the panel of matrix n (from 0) at a moment: black at first, then a shade of its own. */
export const paintedGrey = (moment: number, n: number): number => (moment * (n + 1)) / 31;

const film = (): Uint8Array =>
  formatImagined(
    MOMENTS.map((_, moment) =>
      Uint8Array.from({ length: 4 * 4096 }, (_, i) =>
        Math.round(255 * paintedGrey(moment, i >> 12)),
      ),
    ),
  );

const jitter = (random: Random): number => SPREAD * ((2 * random.next()) / 2 ** 32 - 1);

function ruleMap(config: CrabConfig): object {
  const { configuration, noisy, network } = config;
  const matrices = Array.from({ length: POINTS }, (_, index) =>
    samplePanels({ configuration, noisy, seed: SOURCE_SEED, index }),
  );
  const place = (index: number, concept: number): number[] => {
    const random = new Random(3, index, concept);
    const rule = concept < 3 ? matrices[index].rules[0][concept + 1].name : random.pick(NAMES);
    const [x, y] = CENTRES[rule];
    return [x + jitter(random), y + jitter(random)];
  };
  const mixture = {
    weights: NAMES.map(() => 1 / NAMES.length),
    means: NAMES.map((name) => CENTRES[name]),
    covariances: NAMES.map(() => [
      [0.02, 0],
      [0, 0.02],
    ]),
  };
  const rules = matrices.map((_, index) =>
    Array.from({ length: network.concepts }, (_, concept) => place(index, concept)),
  );
  return {
    prior: Array.from({ length: network.concepts }, () => mixture),
    source: { configuration, noisy, seed: SOURCE_SEED },
    truth: matrices.map((matrix) => formatLabel(matrix.rules)),
    snapshots: MOMENTS.map((step, i) => ({
      step,
      // Early rules lie close together, and elsewhere.
      rules: i === 0 ? rules.map((each) => each.map(([x, y]) => [4 + x / 5, y / 5])) : rules,
    })),
  };
}

/** Writes a bundle into a folder of bundles, under the name of its configuration; `without`: files it lacks. */
export async function writeBundle(
  zoo: string,
  configuration: Configuration,
  without: readonly BundleFileName[] = [],
): Promise<string> {
  const config = tinyConfig(configuration);
  const { manifest, files } = randomBundle(config);
  const { concepts } = config.network;
  files.set('rules.json', new TextEncoder().encode(JSON.stringify(ruleMap(config))));
  files.set('history.json', new TextEncoder().encode(JSON.stringify(HISTORY)));
  if (configuration === FILMED) files.set('imagined.png', film());
  for (const name of without) files.delete(name);
  const named = {
    ...manifest,
    training: {
      ...manifest.training,
      config: JSON.stringify({ ...config, targets: { ...config.targets, ...TARGETS } }),
    },
    conceptNames: Array.from({ length: concepts }, (_, m) => {
      const name = CONCEPT_NAMES.at(m) ?? null;
      return m >= CONCEPT_NAMES.length || name === null ? null : { name, score: 0.9 };
    }),
    accuracy: { sa: { raven: 0.5, 'i-raven': 0.25 }, saL2: { raven: 0.4 }, problems: 100 },
  };
  return writeFiles(path.join(zoo, configuration), { manifest: named, files });
}

async function writeFiles(folder: string, { manifest, files }: TestBundle): Promise<string> {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(path.join(folder, name), bytes);
  writeFileSync(path.join(folder, 'bundle.json'), await formatManifest(manifest, files));
  return folder;
}

/** Writes a Transformer for center beside the bundles of a folder, and the index that tells of it. */
export async function writeTransformer(
  zoo: string,
  beside: readonly Configuration[],
): Promise<string> {
  const name = 'transformer/center';
  const entry = { configuration: 'center', noisy: false, bytes: 1 };
  const index = {
    bundles: beside.map((configuration) => ({ ...entry, name: configuration, configuration })),
    others: [{ ...entry, name, system: 'transformer' }],
  };
  writeFileSync(path.join(zoo, 'index.json'), JSON.stringify(index));
  return writeFiles(path.join(zoo, name), randomTransformer());
}
