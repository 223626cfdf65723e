/**
 * `rules.json`: the global rules a model abstracted (one Gaussian mixture for each concept, the paper's
 * prior), and the rules it parsed from fixed problems at moments of its training, beside the true ones. These
 * repeat a lot, so each different rule is written once; parsed rules are written as bytes. Earlier versions wrote
 * both at length, and are read too.
 */
import {
  boolean,
  choleskyInverse,
  Given,
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
  text,
  withDefault,
  type Reader,
} from '../base/index.js';
import {
  CONFIGURATIONS,
  formatLabel,
  labelText,
  type Configuration,
  type Label,
} from '../matrix/index.js';
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

/** What values of snapshots are rounded to: finer than a pixel of a map. */
const UNIT = 0.001;
const LARGEST = 2 ** 15 - 1;

/** Values as whole units in 16 bits each, low byte first, as base64. */
function valuesText(values: readonly number[]): string {
  const units = values.map((value) =>
    Math.max(-LARGEST, Math.min(LARGEST, Math.round(value / UNIT))),
  );
  return btoa(units.map((value) => String.fromCharCode(value & 255, (value >> 8) & 255)).join(''));
}

/** The same read back: so many values, in units. */
const valuesIn =
  (count: number): Reader<readonly number[]> =>
  (given) => {
    let bytes: string;
    try {
      bytes = atob(text(4 * count + 4)(given));
    } catch {
      return given.expected('base64');
    }
    if (bytes.length !== 2 * count) given.fail(`expected ${count} values of two bytes`);
    return Array.from({ length: count }, (_, i) => {
      const value = bytes.charCodeAt(2 * i) + 256 * bytes.charCodeAt(2 * i + 1);
      return value > LARGEST ? value - 2 ** 16 : value;
    });
  };

/** Values in rows of so many. */
const inRows = <T>(values: readonly T[], length: number): T[][] =>
  Array.from({ length: values.length / length }, (_, i) =>
    values.slice(i * length, (i + 1) * length),
  );

/** Rules of n problems: in units as bytes, or as lists of multiples of `unit`, which is 1 if absent. */
const snapshot =
  (n: number, concepts: number, ruleSize: number): Reader<RuleSnapshot> =>
  (given) => {
    const step = integer({ min: 0 })(given.member('step'));
    const unit = withDefault(number(), 1)(given.member('unit'));
    const values = given.member('values');
    if (values.value !== undefined) {
      const all = valuesIn(n * concepts * ruleSize)(values).map((value) => value * unit);
      return { step, rules: inRows(inRows(all, ruleSize), concepts) };
    }
    const value: Reader<number> = (part) => number()(part) * unit;
    const rules = exactly(exactly(exactly(value, ruleSize), concepts), n);
    return { step, rules: rules(given.member('rules')) };
  };

/** Labels by the numbers of their rules in a list of all that occur, or each in full. */
const truth: Reader<readonly Label[]> = (given) => {
  if (Array.isArray(given.value)) {
    return list(labelText, { max: MOST_PROBLEMS })(given);
  }
  const alone: Reader<Label[number]> = (rule) =>
    labelText(new Given(`[[${text(200)(rule)}]]`, rule.path))[0];
  const rules = list(alone, { max: 10_000 })(given.member('rules'));
  const rule: Reader<Label[number]> = (number) =>
    rules[integer({ min: 0, max: rules.length - 1 })(number)];
  const component: Reader<Label[number]> = (of) => list(rule, { max: 4 })(of).flat();
  return list(list(component, { max: 3 }), { max: MOST_PROBLEMS })(given.member('problems'));
};

function truthData(labels: readonly Label[]) {
  const numbers = new Map<string, number>();
  const numberOf = (rule: Label[number][number]): number => {
    const name = formatLabel([[rule]]).slice(2, -2);
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
  const problems = labels.map((label) => label.map((component) => component.map(numberOf)));
  return { rules: [...numbers.keys()], problems };
}

const ruleMap =
  (concepts: number, ruleSize: number): Reader<RuleMap> =>
  (given) => {
    const labels = truth(given.member('truth'));
    return {
      ...objectWith({
        prior: withDefault(nullable(exactly(mixture(ruleSize), concepts)), null),
        source: objectWith({
          configuration: oneOf(CONFIGURATIONS),
          noisy: boolean,
          seed: integer(),
        }),
        snapshots: list(snapshot(labels.length, concepts, ruleSize), { max: MOST_SNAPSHOTS }),
      })(given),
      truth: labels,
    };
  };

/** Reads `rules.json`. */
export function parseRuleMap(bytes: Uint8Array, concepts: number, ruleSize: number): RuleMap {
  const file = 'rules.json';
  const json = parseJson(bytes, BundleError, file);
  return read(ruleMap(concepts, ruleSize), json, BundleError, file);
}

/** The bytes of `rules.json`. */
export function formatRuleMap({ prior, source, truth: labels, snapshots }: RuleMap): Uint8Array {
  const map = {
    prior,
    source: { configuration: source.configuration, noisy: source.noisy, seed: source.seed },
    truth: truthData(labels),
    snapshots: snapshots.map(({ step, rules }) => ({
      step,
      unit: UNIT,
      values: valuesText(rules.flat(2)),
    })),
  };
  return new TextEncoder().encode(JSON.stringify(map));
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
