/** A model with random weights and an evaluation with made-up numbers: something to draw a report of. */
import {
  attributeColumns,
  formatLabel,
  layoutOf,
  Random,
  samplePanels,
  sampleProblem,
  type AttributeColumn,
  type Configuration,
} from '../../../src/matrix/index.js';
import {
  EVALUATION_FORMAT,
  EVALUATION_VERSION,
  METRIC_NAMES,
} from '../../../src/lab/evaluation.js';
import type { AriTable, Measured, ModelEvaluation } from '../../../src/lab/evaluation.js';
import { subjectFrom, type BundleSubject } from '../../../src/lab/index.js';
import { memoryBundle } from '../../../src/solver/node.js';
import { randomBundle, tinyConfig } from '../../solver/random-model.js';

const PROBLEMS = 120;
const RULE_SEED = 5;
const SNAPSHOT_STEPS = [0, 1000, 5000, 20_000, 80_000, 320_000];

const around = (value: number): Measured => ({ value, low: value - 0.01, high: value + 0.01 });

/** Numbers between 0 and 1 that are the same every time. */
function numbers(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next() / 2 ** 32;
}

/** Attributes of a configuration, as an evaluation names them. */
export const columnsOf = (configuration: Configuration): AttributeColumn[] =>
  attributeColumns(layoutOf(configuration));

/** Rules in four clusters that move apart, with the true label of each problem. */
function ruleFile(configuration: Configuration, concepts: number): Uint8Array {
  const next = numbers(11);
  const truth = Array.from(
    { length: PROBLEMS },
    (_, index) => samplePanels({ configuration, seed: RULE_SEED, index }).rules,
  );
  const corner = {
    Constant: [0, 0],
    Progression: [2, 1],
    Arithmetic: [-2, 1],
    Distribute_Three: [0, -2],
  };
  const snapshots = SNAPSHOT_STEPS.map((step, moment) => ({
    step,
    rules: truth.map((rules) =>
      Array.from({ length: concepts }, (_, m) => {
        const [x, y] = corner[rules[0][1 + (m % 3)].name];
        const spread = moment / (SNAPSHOT_STEPS.length - 1);
        return [x * spread + next() * 0.6, y * spread + next() * 0.6];
      }),
    ),
  }));
  const mixture = {
    weights: [0.25, 0.25, 0.25, 0.25],
    means: Object.values(corner).map(([x, y]) => [x + 0.3, y + 0.3]),
    covariances: Array.from({ length: 4 }, () => [
      [0.04, 0],
      [0, 0.04],
    ]),
  };
  const text = {
    prior: Array.from({ length: concepts }, () => mixture),
    source: { configuration, noisy: false, seed: RULE_SEED },
    truth: truth.map((rules) => formatLabel(rules)),
    snapshots,
  };
  return new TextEncoder().encode(JSON.stringify(text));
}

/** A random model that has a whole map of rules. */
export async function exampleSubject(configuration: Configuration): Promise<BundleSubject> {
  const { manifest, files } = exampleBundle(configuration);
  return subjectFrom(await memoryBundle(manifest, files));
}

/** The files of the same model, to write as a bundle. */
export function exampleBundle(configuration: Configuration) {
  const bundle = randomBundle(tinyConfig(configuration));
  bundle.files.set('rules.json', ruleFile(configuration, bundle.manifest.sizes.concepts));
  return bundle;
}

function exampleAri(columns: readonly AttributeColumn[], concepts: number): AriTable {
  const next = numbers(3);
  const matrix = Array.from({ length: concepts }, (_, m) =>
    columns.map((_, v) => (m === v ? 0.95 : 0.1 * next())),
  );
  const best = columns.map(({ name }, v) => ({
    attribute: name,
    concept: (v % concepts) + 1,
    ari: matrix[v % concepts][v],
  }));
  const average = best.reduce((sum, { ari }) => sum + ari, 0) / best.length;
  const byGroup = { Type: 0.9, Size: 0.8, Color: 0.7, 'Num/Pos': null };
  return {
    attributes: columns,
    matrix,
    best,
    average,
    oneToOne: best,
    averageOneToOne: average,
    byGroup,
  };
}

/** An evaluation that has something of everything. */
export function exampleEvaluation(configuration: Configuration): ModelEvaluation {
  const { network } = tinyConfig(configuration);
  const { concepts, conceptSize, ruleSize } = network;
  const columns = columnsOf(configuration);
  const next = numbers(7);
  const problems = { fromData: 0, generated: 2000, seed: 9 };
  const error = { meanSquared: around(0.02), meanAbsolute: around(0.05) };
  const names = Array.from({ length: concepts }, (_, m) => ({
    concept: m + 1,
    name: columns.at(m)?.name ?? (m === columns.length ? 'mixed' : 'unused'),
    score: 0.9,
  }));
  const table = exampleAri(columns, concepts);
  const sets = (['raven', 'i-raven'] as const).map((variant) => ({
    data: `${configuration}, ${variant} <made up>`,
    variant,
    count: 1000,
  }));
  return {
    format: EVALUATION_FORMAT,
    version: EVALUATION_VERSION,
    model: configuration,
    name: configuration,
    system: 'crab',
    preset: 'crab',
    configuration,
    noisy: false,
    sizes: { concepts, conceptSize, ruleSize },
    training: { preset: 'crab', steps: 320_000, note: '<b>not markup</b>' },
    conditions: {
      bundle: null,
      metrics: METRIC_NAMES,
      problems: 2000,
      repeats: 5,
      panels: 1024,
      pictures: 500,
    },
    data: sets,
    selection: sets.map((set) => ({
      ...set,
      sa: around(0.97),
      saL2: around(0.95),
    })),
    gsa: {
      problems,
      repeats: 5,
      seed: 9,
      points: [1, 2, 3].flatMap((targets) =>
        [2, 4, 8, 16].map((candidates) => {
          const value = 1 - 0.02 * targets - 0.015 * Math.log2(candidates);
          return {
            targets,
            candidates,
            accuracy: around(value),
            accuracyL2: around(value - 0.03),
            each: around(value - 0.01),
            eachL2: around(value - 0.04),
          };
        }),
      ),
    },
    errors: { problems, reconstruction: error, prediction: error, predictionAnywhere: error },
    ari: { problems, matrix: table, authors: table, context: table },
    vd: {
      attributes: columns,
      panels: 500,
      seed: 9,
      decline: names.map((_, m) => columns.map((_, v) => (m === v ? 0.95 : 0.2 * next()))),
      paperRatio: names.map(() => columns.map(() => 1)),
      variance: names.map(() => 1),
      names,
    },
    rules: {
      problems: 500,
      seed: 10,
      right: around(0.98),
      byAttribute: columns.map((attribute) => ({ attribute, right: 0.98, wrong: 0.02, silent: 0 })),
      calibration: [{ from: 0.99, to: 1, count: 1500, confidence: 0.998, right: 0.99 }],
      several: null,
    },
    readback: {
      problems: 500,
      seed: 9,
      obeys: around(0.9),
      agrees: around(0.9),
      unreadable: around(0.02),
      meanObeys: around(0.8),
      missing: [1, 2, 3, 4, 5, 6, 7, 8].map((targets) => ({
        targets,
        problems: 50,
        obeys: around(0.9 - 0.1 * targets),
        meanObeys: around(0.85 - 0.1 * targets),
      })),
      reconstructedObeys: around(0.97),
      reconstructedUnreadable: around(0.01),
      byAttribute: columns.map((attribute) => ({ attribute, share: 0.95 })),
    },
    examples: Array.from({ length: 6 }, (_, index) => {
      const request = { configuration, noisy: false, variant: 'i-raven' as const, seed: 1, index };
      const answer = sampleProblem(request).target + 1;
      return {
        ...request,
        answer,
        chosen: index === 5 ? (answer % 8) + 1 : answer,
        confidence: 0.9,
      };
    }),
    history: ['sa raven', 'sa i-raven', 'gsa', 'total', 'reconstruction', 'ruleRegularizer'].map(
      (name, curve) => ({
        name,
        steps: Array.from({ length: 40 }, (_, i) => i * 8000),
        values: Array.from({ length: 40 }, (_, i) =>
          curve < 3 ? 1 - Math.exp(-i / 8) : 100 * Math.exp(-i / (6 + curve)) + next(),
        ),
      }),
    ),
    seconds: { sa: 10, gsa: 20 },
  };
}
