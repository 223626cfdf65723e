/**
 * `rules.json`: the global rules a model abstracted (one Gaussian mixture for each concept, the paper's
 * prior), and the rules it parsed from fixed problems at moments of its training, beside the true ones.
 */
import { CONFIGURATIONS, parseLabel, type Configuration, type Label } from '../matrix/index.js';
import { JsonValue } from './json.js';
import { cholesky, invertLower } from './linear-algebra.js';

/** A mixture as plain data; components by falling weight, those of one category together. */
export interface RuleMixture {
  readonly weights: readonly number[];
  readonly means: readonly (readonly number[])[];
  readonly covariances: readonly (readonly (readonly number[])[])[];
  /** For each component the category of rules it belongs to, 0, 1, ...; absent: one of its own. */
  readonly categories?: readonly number[];
}

/** The category of each component. */
export const categoriesOf = ({ weights, categories }: RuleMixture): readonly number[] =>
  categories ?? weights.map((_, k) => k);

export interface RuleSnapshot {
  /** Steps of training done. */
  readonly step: number;
  /** For each problem, for each concept, d_r values. */
  readonly rules: readonly (readonly (readonly number[])[])[];
}

export interface RuleMap {
  /** One for each concept, or null where no prior was fitted. */
  readonly prior: readonly RuleMixture[] | null;
  /** Problem n is index n of this configuration and seed. */
  readonly source: {
    readonly configuration: Configuration;
    readonly noisy: boolean;
    readonly seed: number;
  };
  /** True rules of each problem. */
  readonly truth: readonly Label[];
  /** Oldest first. */
  readonly snapshots: readonly RuleSnapshot[];
}

const MOST_COMPONENTS = 64;
const MOST_PROBLEMS = 10_000;
const MOST_SNAPSHOTS = 64;

function readCategories(json: JsonValue, components: number): number[] {
  const categories = json
    .items(components, components)
    .map((category) => category.integer(0, components - 1));
  const met = new Set(categories);
  if (Math.max(...categories) >= met.size) json.fail('categories 0, 1, ... without a gap');
  return categories;
}

function readMixture(json: JsonValue, ruleSize: number): RuleMixture {
  const weights = json.get('weights').items(1, MOST_COMPONENTS);
  const k = weights.length;
  const categories = json.get('categories').nullOr((list) => readCategories(list, k));
  return {
    ...(categories === null ? {} : { categories }),
    weights: weights.map((weight) => weight.number()),
    means: json
      .get('means')
      .items(k, k)
      .map((mean) => mean.numbers(ruleSize)),
    covariances: json
      .get('covariances')
      .items(k, k)
      .map((matrix) => matrix.items(ruleSize, ruleSize).map((row) => row.numbers(ruleSize))),
  };
}

/** Rules of n problems; written as multiples of `unit`, which is 1 where absent, they take less room. */
function readRules(json: JsonValue, n: number, concepts: number, ruleSize: number): number[][][] {
  const unit = json.get('unit').nullOr((value) => value.number()) ?? 1;
  return json
    .get('rules')
    .items(n, n)
    .map((rules) =>
      rules
        .items(concepts, concepts)
        .map((rule) => rule.numbers(ruleSize).map((value) => value * unit)),
    );
}

/** Reads `rules.json`. */
export function parseRuleMap(bytes: Uint8Array, concepts: number, ruleSize: number): RuleMap {
  const json = JsonValue.parse(bytes, 'rules.json');
  const source = json.get('source');
  const truth = json.get('truth').items(0, MOST_PROBLEMS);
  const n = truth.length;
  return {
    prior: json
      .get('prior')
      .nullOr((prior) =>
        prior.items(concepts, concepts).map((mixture) => readMixture(mixture, ruleSize)),
      ),
    source: {
      configuration: source.get('configuration').oneOf(CONFIGURATIONS),
      noisy: source.get('noisy').flag(),
      seed: source.get('seed').integer(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    },
    truth: truth.map((label) => parseLabel(label.text(10_000))),
    snapshots: json
      .get('snapshots')
      .items(0, MOST_SNAPSHOTS)
      .map((snapshot) => ({
        step: snapshot.get('step').integer(0, Number.MAX_SAFE_INTEGER),
        rules: readRules(snapshot, n, concepts, ruleSize),
      })),
  };
}

/** Categories of a rule: its probability in each. */
export interface RuleCategories {
  readonly probabilities: readonly number[];
  /** log p(r) under the whole mixture. */
  readonly logDensity: number;
}

/** Assigns rules of one concept to the categories of its mixture. */
export class RuleClassifier {
  /** How many there are. */
  readonly categories: number;
  readonly #categoryOf: readonly number[];
  readonly #factors: readonly Float64Array[];
  readonly #offsets: readonly number[];

  constructor(readonly mixture: RuleMixture) {
    this.#categoryOf = categoriesOf(mixture);
    this.categories = 1 + Math.max(...this.#categoryOf);
    const size = mixture.means[0].length;
    this.#factors = mixture.covariances.map((covariance) =>
      invertLower(cholesky(Float64Array.from(covariance.flat()), size), size),
    );
    this.#offsets = mixture.weights.map((weight, k) => {
      let logDeterminant = 0;
      for (let i = 0; i < size; i++) logDeterminant += Math.log(this.#factors[k][i * size + i]);
      return (
        Math.log(Math.max(weight, 1e-300)) + logDeterminant - 0.5 * size * Math.log(2 * Math.PI)
      );
    });
  }

  classify(rule: ArrayLike<number>): RuleCategories {
    const logs = this.#factors.map((factor, k) => {
      const mean = this.mixture.means[k];
      let squares = 0;
      for (let i = 0; i < mean.length; i++) {
        let whitened = 0;
        for (let j = 0; j <= i; j++) whitened += factor[i * mean.length + j] * (rule[j] - mean[j]);
        squares += whitened * whitened;
      }
      return this.#offsets[k] - 0.5 * squares;
    });
    const largest = Math.max(...logs);
    const sum = logs.reduce((total, log) => total + Math.exp(log - largest), 0);
    const logDensity = largest + Math.log(sum);
    const probabilities = new Array<number>(this.categories).fill(0);
    logs.forEach((log, k) => (probabilities[this.#categoryOf[k]] += Math.exp(log - logDensity)));
    return { probabilities, logDensity };
  }

  /** The most probable category of a rule. */
  categoryOf(rule: ArrayLike<number>): number {
    const { probabilities } = this.classify(rule);
    return probabilities.indexOf(Math.max(...probabilities));
  }
}
