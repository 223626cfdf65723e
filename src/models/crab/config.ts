/**
 * The whole configuration of a CRAB model and of what it minimises, as plain data. It is stored with
 * every run and read back by the same checks. `presets.ts` has the ready ones.
 */
import {
  boolean,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  read,
  type Read,
  type Reader,
} from '../../base/index.js';
import { ConfigurationError } from '../errors.js';
import { optimizerFields, problemFields, requireNoisyForm, width } from '../parts/settings.js';
import { targetsReader } from '../parts/target-sets.js';
import { schedule } from '../schedule.js';

/** The default first. */
export const PRESETS = ['crab', 'released', 'paper', 'small'] as const;
export type PresetName = (typeof PRESETS)[number];

const exactly = (length: number) => list(width, { min: length, max: length });

const network = object({
  /** M, the number of concepts of an image. */
  concepts: integer({ min: 1, max: 64 }),
  /** d_z, the size of a concept. */
  conceptSize: integer({ min: 1, max: 1024 }),
  /** d_r, the size of a rule. */
  ruleSize: integer({ min: 1, max: 64 }),
  /** Channels of the five convolutions of f_enc. */
  encoder: exactly(5),
  /** Channels of the first five transposed convolutions of f_dec. */
  decoder: exactly(5),
  /** Slope of the decoder's LeakyReLU for negative values. */
  decoderSlope: number({ min: 0, max: 1 }),
  /** Widths of the two hidden layers of f_pair. */
  pairHidden: exactly(2),
  /** Size of the representation of a pair of concepts. */
  pairFeatures: width,
  /** s, by which pair representations are multiplied. */
  pairScale: number({ min: 0 }),
  /** Widths of the hidden layers of f_relation. */
  relationHidden: list(width, { min: 1, max: 8 }),
  /** Greatest standard deviation of r, max * sigmoid(.); null: softplus(.), without a bound. */
  ruleDeviationMax: nullable(number({ min: 1e-6 })),
  /** Channels of the hidden convolutions of f_target. */
  targetHidden: list(width, { min: 1, max: 8 }),
  /** Whether a ReLU follows the last convolution of f_target. */
  targetOutputRelu: boolean,
});
export type NetworkConfig = Read<typeof network>;

const objective = object({
  /** Fixed standard deviation of pixels. */
  sigmaX: number({ min: 1e-6 }),
  /** Fixed standard deviation of concepts. */
  sigmaZ: number({ min: 1e-6 }),
  /** beta_r, weight of the rule regulariser. */
  ruleWeight: schedule,
  /** beta_t, weight of the target regulariser. */
  targetWeight: schedule,
  /** beta_cls, weight of the rule prior; the prior is not fitted where this is 0. */
  priorWeight: schedule,
});
export type ObjectiveConfig = Read<typeof objective>;

const rulePrior = object({
  /** K, Gaussians for each concept. */
  components: integer({ min: 1, max: 64 }),
  learner: oneOf(['em', 'bayesian']),
  /** Change of the learner's objective that ends its search. */
  tolerance: number({ min: 0 }),
  /** Added to variances: without it a cluster of one point has no density. */
  covarianceFloor: number({ min: 1e-12 }),
  /** U of Algorithm 1: steps between refits. */
  refitEvery: integer({ min: 1 }),
  /** log p(r): of the whole mixture, or of its most likely component alone. */
  density: oneOf(['mixture', 'component']),
});
export type RulePriorConfig = Read<typeof rulePrior>;

const fields = object({
  preset: oneOf(PRESETS),
  ...problemFields,
  network,
  objective,
  rulePrior,
  targets: targetsReader,
  optimizer: object(optimizerFields),
});
export type CrabConfig = Read<typeof fields>;

/** A configuration whose parts fit each other. */
export const crabConfigReader: Reader<CrabConfig> = (given) => {
  const config = fields(given);
  const { components } = config.rulePrior;
  const { batchSize } = config.optimizer;
  const fitsPrior = config.objective.priorWeight.points.some(([, weight]) => weight > 0);
  if (fitsPrior && batchSize < components) {
    given
      .member('optimizer')
      .fail(
        `batchSize ${batchSize} is below the ${components} of rulePrior.components, which are fitted to one batch`,
      );
  }
  requireNoisyForm(given, config);
  return config;
};

/** Reads a configuration from an unknown value, e.g. parsed JSON. */
export const parseCrabConfig = (value: unknown): CrabConfig =>
  read(crabConfigReader, value, ConfigurationError, 'config');
