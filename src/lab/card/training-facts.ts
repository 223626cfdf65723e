/** How a model was trained, in words: from the facts in its manifest, among them its whole configuration. */
import {
  overridesOf,
  parseCrabConfig,
  type CrabConfig,
  type Schedule,
} from '../../models/index.js';
import type { Configuration } from '../../matrix/index.js';
import { systemOf, type BundleManifest } from '../../solver/index.js';
import { escaped } from '../markdown.js';
import { inWords, whole } from '../numbers.js';

type Training = BundleManifest['training'];

const SMALLEST_PLAIN = 1e-4;

const amount = (value: number): string =>
  value !== 0 && Math.abs(value) < SMALLEST_PLAIN ? value.toExponential() : String(value);

const BETWEEN: Readonly<Record<Schedule['shape'], string>> = {
  linear: 'along straight lines',
  cosine: 'along cosines',
  stairs: 'constant',
};

/** `from 0.0001 at the start over 0.001 at 2% to 0.00001 at the end, along cosines`. */
function scheduleWords({ unit, shape, points }: Schedule): string {
  const [[, first]] = points;
  if (points.length === 1) return amount(first);
  const place = (position: number): string => {
    if (position === 0) return 'at the start';
    if (unit === 'steps') return `at step ${whole(position)}`;
    return position === 1 ? 'at the end' : `at ${Math.round(100 * position)}% of the run`;
  };
  const told = points.map(([position, value]) => `${amount(value)} ${place(position)}`);
  return `${told.join(', ')}, ${BETWEEN[shape]} between`;
}

/** Target sets in words: how many, and of how many panels. */
function setsWords(count: number, min: number, max: number): string {
  const panels = min === max ? inWords(min) : `${inWords(min)} to ${inWords(max)}`;
  const panelWord = max === 1 ? 'panel' : 'panels';
  const sets = count === 1 ? 'a set' : `${inWords(count)} sets`;
  return `${sets} of ${panels} missing ${panelWord}`;
}

function targetsWords({ min, max, smallestSets, ...targets }: CrabConfig['targets']) {
  const { setsPerProblem, decoded, sharedByBatch } = targets;
  const small = min === max ? setsPerProblem : smallestSets;
  const parts = [
    ...(small > 0 ? [setsWords(small, min, min)] : []),
    ...(small < setsPerProblem ? [setsWords(setsPerProblem - small, min, max)] : []),
  ];
  const sets = `${parts.join(' and ')} ${setsPerProblem === 1 ? 'is' : 'are'} drawn`;
  const shared = sharedByBatch ? ', the same for the whole batch' : '';
  const most = small * min + (setsPerProblem - small) * max;
  const painted =
    decoded < most
      ? `; the decoder paints at most ${inWords(decoded)} of a matrix's missing panels`
      : '';
  return `For every matrix ${sets}${shared}${painted}.`;
}

const LEARNERS = { em: 'expectation maximisation', bayesian: 'variational Bayes' } as const;
const ALGORITHMS = { rmsprop: 'RMSprop', adam: 'Adam', adamw: 'AdamW', sgd: 'SGD' } as const;

/** What a configuration of a model says of its training. */
export function recipeWords({ objective, optimizer, rulePrior, targets }: CrabConfig): string[] {
  const { ruleWeight, targetWeight, priorWeight, sigmaX, sigmaZ } = objective;
  return [
    `${ALGORITHMS[optimizer.algorithm]} in batches of ${whole(optimizer.batchSize)} problems; learning rate ${scheduleWords(optimizer.learningRate)}.`,
    targetsWords(targets),
    `Weights of the objective: rule regulariser ${scheduleWords(ruleWeight)}, target regulariser ${scheduleWords(targetWeight)}; standard deviations: pixels ${sigmaX}, concepts ${sigmaZ}.`,
    `Rule prior: ${rulePrior.components} Gaussians for each concept, by ${LEARNERS[rulePrior.learner]}, refitted every ${whole(rulePrior.refitEvery)} steps; weight ${scheduleWords(priorWeight)}.`,
  ];
}

/** The configuration that the facts tell, if it makes the networks of this manifest; else null. */
function configOf({ training, configuration, noisy, sizes, sigmaZ }: BundleManifest) {
  let config: CrabConfig;
  try {
    config = parseCrabConfig(JSON.parse(String(training.config)));
  } catch {
    return null;
  }
  const { concepts, conceptSize, ruleSize } = config.network;
  const agrees =
    config.preset === training.preset &&
    config.configuration === configuration &&
    config.noisy === noisy &&
    config.objective.sigmaZ === sigmaZ &&
    concepts === sizes.concepts &&
    conceptSize === sizes.conceptSize &&
    ruleSize === sizes.ruleSize;
  return agrees ? config : null;
}

/** Steps of the whole run; its weights may be earlier ones. */
const stepsOf = ({ runSteps, steps }: Training): number | null => {
  const all = runSteps ?? steps;
  return typeof all === 'number' && all > 0 ? all : null;
};

/** Seconds of training. */
export const secondsOf = ({ seconds }: Training): number | null =>
  typeof seconds === 'number' && seconds > 0 ? seconds : null;

/** A fact that can stand in a command as it is. */
const plainWord = (fact: string | number | undefined): string | null =>
  fact !== undefined && /^[\w.:-]+$/.test(String(fact)) ? String(fact) : null;

const isCuda = ({ device }: Training): boolean => /^cuda(:\d+)?$/.test(String(device));

/** What a device computes in unless told. */
const isUsualPrecision = (training: Training): boolean =>
  training.precision === (isCuda(training) ? 'bf16' : 'f32');

/** What a command that trains is made of: facts of a training, and what it changed of its preset. */
interface TrainedAs {
  readonly system: string;
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly training: Training;
  readonly overrides: object;
}

/** Changes to the preset of today as a shell takes them: numbers and names, which have no quotes inside. */
function overridesFlag(overrides: object): string[] {
  const text = JSON.stringify(overrides);
  return text !== '{}' && /^[\w.,:{}[\]"+-]*$/.test(text) ? [`--overrides '${text}'`] : [];
}

/** The command that trains such a model; `--out` is left to who gives it. */
export function trainCommand({
  system,
  configuration,
  noisy,
  training,
  overrides,
}: TrainedAs): string {
  const flag = (option: string, fact: string | number | undefined): string[] => {
    const word = plainWord(fact);
    return word === null ? [] : [`--${option} ${word}`];
  };
  return [
    'crab train',
    ...(system === 'crab' ? [] : flag('system', system)),
    `--config ${configuration}`,
    ...(noisy ? ['--noisy'] : []),
    ...(training.data === 'set' ? ['--data SET'] : []),
    ...flag('preset', training.preset),
    ...overridesFlag(overrides),
    ...flag('device', training.device),
    ...(isUsualPrecision(training) ? [] : flag('precision', training.precision)),
    ...(training.deterministic === 'yes' ? ['--deterministic'] : []),
    ...flag('steps', stepsOf(training) ?? undefined),
    ...flag('seed', training.seed),
    ...flag('pool', training.pool),
    ...flag('refresh', training.refresh),
    ...flag('validate-every', training.validateEvery),
    ...flag('patience', training.patience),
  ].join(' ');
}

/** The commands that train such a model and make its bundle. */
export function commandsOf(manifest: BundleManifest): readonly string[] {
  const { compact, weights, name } = manifest;
  const config = configOf(manifest);
  const overrides = config === null ? {} : overridesOf(config);
  const train = trainCommand({ ...manifest, system: systemOf(manifest), overrides });
  const usual = compact ? 'int8' : 'f32';
  const format = weights === usual ? [] : [`--weights ${weights}`];
  const out = plainWord(name) ?? 'BUNDLE';
  const made = ['crab export RUN', `--out ${out}`, ...(compact ? ['--compact'] : []), ...format];
  return [`${train} --out RUN`, made.join(' ')];
}

function dataWords({ training, noisy }: BundleManifest): string {
  const drawn = noisy ? " with RAVEN's noise" : '';
  switch (training.data) {
    case 'stream':
      return `Data: problems that the generator of this package makes while the model trains, endlessly${drawn}. The model sees the nine panels of finished matrices, no candidates, no names of attributes or rules, no labels of any kind.`;
    case 'set':
      return 'Data: a stored set of problems, of which the model sees the nine panels of finished matrices, no candidates and no labels of any kind.';
    default:
      return 'Data: not recorded.';
  }
}

function hardwareWords({ training }: BundleManifest, gpu: string): string {
  const { device, precision } = training;
  if (device === undefined) return 'Hardware: not recorded.';
  const machine = isCuda(training) ? gpu : `\`${escaped(String(device))}\``;
  const how = precision === undefined ? '' : `, ${escaped(String(precision))}`;
  return `Hardware: ${machine}${how}.`;
}

function lengthWords({ training }: BundleManifest): string {
  const steps = stepsOf(training);
  const seconds = secondsOf(training);
  const time = seconds === null ? 'minutes not recorded' : `${(seconds / 60).toFixed(1)} minutes`;
  if (steps === null) return `Length: steps not recorded, ${time}.`;
  const best = Number(training.steps);
  // The time is that of the weights, which may not be the last ones.
  return best < steps
    ? `Length: ${whole(steps)} steps; the weights are those of step ${whole(best)}, ${time} after the start.`
    : `Length: ${whole(steps)} steps, ${time}.`;
}

const SOFTWARE = ['crab-raven', 'node', 'libtorch', 'blas'] as const;

function softwareWords({ training }: BundleManifest): string[] {
  const known = SOFTWARE.filter((name) => name in training);
  if (known.length === 0) return [];
  return [
    `Software: ${known.map((name) => `${name} ${escaped(String(training[name]))}`).join(', ')}.`,
  ];
}

function recipeItem(manifest: BundleManifest): string {
  const { preset } = manifest.training;
  const config = configOf(manifest);
  if (preset === undefined) return 'Recipe: not recorded.';
  const named = `Recipe: preset \`${escaped(String(preset))}\``;
  // The words below are those of CRAB's settings.
  if (systemOf(manifest) !== 'crab') return `${named} of ${systemOf(manifest)}.`;
  if (config === null) return `${named}, its settings not recorded.`;
  const changed = Object.keys(overridesOf(config)).length === 0 ? '' : ', with changes';
  return `${named}${changed}. ${recipeWords(config).join(' ')}`;
}

/** Everything known of a training, an item each. */
export const trainingItems = (manifest: BundleManifest, gpu: string): readonly string[] => [
  dataWords(manifest),
  recipeItem(manifest),
  lengthWords(manifest),
  hardwareWords(manifest, gpu),
  ...softwareWords(manifest),
];
