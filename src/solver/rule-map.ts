/**
 * `rules.json`: the global rules a model abstracted (one Gaussian mixture for each concept, the paper's
 * prior), and the rules it parsed from fixed problems at moments of its training, beside the true ones.
 */
import {
  boolean,
  choleskyInverse,
  indexOfLargest,
  integer,
  list,
  logSumExp,
  nullable,
  number,
  objectWith,
  oneOf,
  optional,
  parseJson,
  read,
  withDefault,
  type Reader,
} from '../base/index.js';
import { CONFIGURATIONS, labelText, type Configuration, type Label } from '../matrix/index.js';
import { BundleError } from './errors.js';

/** A mixture as plain data; those of one category together, by falling weight. */
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
  /** One for each concept, or null if no prior was fitted. */
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

const exactly = <T>(reader: Reader<T>, count: number): Reader<readonly T[]> =>
  list(reader, { min: count, max: count });

const categoriesOfComponents =
  (components: number): Reader<readonly number[]> =>
  (given) => {
    const categories = exactly(integer({ min: 0, max: components - 1 }), components)(given);
    if (Math.max(...categories) >= new Set(categories).size) {
      given.fail('expected categories 0, 1, ... without a gap');
    }
    return categories;
  };

const mixture =
  (ruleSize: number): Reader<RuleMixture> =>
  (given) => {
    const k = given.member('weights').items(1, MOST_COMPONENTS).length;
    const vector = exactly(number(), ruleSize);
    return objectWith({
      categories: optional(categoriesOfComponents(k)),
      weights: exactly(number(), k),
      means: exactly(vector, k),
      covariances: exactly(exactly(vector, ruleSize), k),
    })(given);
  };

/** Rules of n problems; written as multiples of `unit`, which is 1 if absent, they take less room. */
const snapshot =
  (n: number, concepts: number, ruleSize: number): Reader<RuleSnapshot> =>
  (given) => {
    const unit = withDefault(number(), 1)(given.member('unit'));
    const value: Reader<number> = (part) => number()(part) * unit;
    return objectWith({
      step: integer({ min: 0 }),
      rules: exactly(exactly(exactly(value, ruleSize), concepts), n),
    })(given);
  };

const ruleMap =
  (concepts: number, ruleSize: number): Reader<RuleMap> =>
  (given) => {
    const n = given.member('truth').items(0, MOST_PROBLEMS).length;
    return objectWith({
      prior: withDefault(nullable(exactly(mixture(ruleSize), concepts)), null),
      source: objectWith({
        configuration: oneOf(CONFIGURATIONS),
        noisy: boolean,
        seed: integer(),
      }),
      truth: exactly(labelText, n),
      snapshots: list(snapshot(n, concepts, ruleSize), { max: MOST_SNAPSHOTS }),
    })(given);
  };

/** Reads `rules.json`. */
export function parseRuleMap(bytes: Uint8Array, concepts: number, ruleSize: number): RuleMap {
  const file = 'rules.json';
  const json = parseJson(bytes, BundleError, file);
  return read(ruleMap(concepts, ruleSize), json, BundleError, file);
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
      choleskyInverse(Float64Array.from(covariance.flat()), size),
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
    const logDensity = logSumExp(logs);
    const probabilities = new Array<number>(this.categories).fill(0);
    logs.forEach((log, k) => (probabilities[this.#categoryOf[k]] += Math.exp(log - logDensity)));
    return { probabilities, logDensity };
  }

  /** The most probable category of a rule. */
  categoryOf(rule: ArrayLike<number>): number {
    const { probabilities } = this.classify(rule);
    return indexOfLargest(probabilities);
  }
}
