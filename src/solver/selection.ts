/**
 * Distances between imagined and offered panels in the space of concepts. L2, as in the paper; and
 * calibrated: with the mean and covariance C of the residuals d (encoded minus predicted concepts) of
 * problems not trained on, d' C^-1 d. The share of concept m is d_m . (C^-1 d)_m; shares add up to the
 * distance, and one may be negative. C is stored with its shrinkage applied, in one of four forms.
 */
import {
  choleskyInverse,
  dictionary,
  invertPositive,
  number,
  objectWith,
  oneOf,
  parseJson,
  read,
  shown,
} from '../base/index.js';
import { BundleError } from './errors.js';
import { formatSafetensors, parseSafetensors, type StoredArray } from './safetensors.js';

/** From none to all of the relations between values that are taken into account. */
export const COVARIANCE_FORMS = ['identity', 'diagonal', 'blocks', 'full'] as const;
export type CovarianceForm = (typeof COVARIANCE_FORMS)[number];

export interface ResidualStatistics {
  readonly form: CovarianceForm;
  /** Weight of the mean variance in C that was mixed in. */
  readonly shrinkage: number;
  /** Divides distances so that exp(-distance / 2) ranks candidates by their probability. */
  readonly temperature: number;
  /** [D], D = M d_z */
  readonly mean: Float32Array;
  /**
   * identity: [1], the common variance; diagonal: [D]; blocks: [M, d_z, d_z]; full: [D (D + 1) / 2], the
   * lower triangle row by row.
   */
  readonly covariance: Float32Array;
}

/** `last`: panel 9 missing. `targets<n>`: n panels missing anywhere. */
export type StatisticsKey = 'last' | `targets${number}`;

export type SelectionStatistics = ReadonlyMap<StatisticsKey, ResidualStatistics>;

const LARGEST_TARGETS = 8;

/** Keys from the most to the least fitting for a missing set (1..9), or for as many panels anywhere. */
function keysFor(missing: readonly number[], anywhere: boolean): StatisticsKey[] {
  const fewer = Array.from(
    { length: missing.length },
    (_, i): StatisticsKey => `targets${missing.length - i}`,
  );
  const isLast = !anywhere && missing.length === 1 && missing[0] === 9;
  return isLast ? ['last', ...fewer] : [...fewer, 'last'];
}

/** The key that fits a missing set best among those there are; undefined if there is none. */
export const keyFor = (
  missing: readonly number[],
  present: { has(key: StatisticsKey): boolean },
  anywhere = false,
): StatisticsKey | undefined => keysFor(missing, anywhere).find((key) => present.has(key));

/** How many values in a row a form lets depend on each other. */
export const bandOf = (form: CovarianceForm, size: number, conceptSize: number): number =>
  form === 'full' ? size : form === 'blocks' ? conceptSize : 1;

/** The covariance as blocks [band, band] along its diagonal. */
function blocksOf({ form, covariance }: ResidualStatistics, size: number, band: number) {
  if (form === 'full') return [unpackTriangle(covariance, size)];
  return Array.from({ length: size / band }, (_, b) =>
    form === 'identity'
      ? Float64Array.of(covariance[0])
      : Float64Array.from(covariance.subarray(b * band * band, (b + 1) * band * band)),
  );
}

/** Square blocks along a diagonal times a vector. */
function blockProduct(blocks: readonly Float64Array[], band: number, d: Float64Array) {
  const out = new Float64Array(d.length);
  blocks.forEach((block, b) => {
    const first = b * band;
    for (let i = 0; i < band; i++) {
      let sum = 0;
      for (let j = 0, at = i * band; j < band; j++, at++) sum += block[at] * d[first + j];
      out[first + i] = sum;
    }
  });
  return out;
}

/** Rows that are multiplied at a time: with a sum for each, the processor need not wait for the one before. */
const ROWS_AT_ONCE = 4;

/** Lower triangular blocks [band, band] along a diagonal times vectors. */
export type LowerProducts = (
  blocks: readonly Float64Array[],
  band: number,
  rows: readonly Float64Array[],
) => Float64Array[];

export const lowerProducts: LowerProducts = (blocks, band, rows) => {
  const out = rows.map(({ length }) => new Float64Array(length));
  for (let first = 0; first < rows.length; first += ROWS_AT_ONCE) {
    // A row that is not there is the last one once more.
    const at = [0, 1, 2, 3].map((i) => Math.min(first + i, rows.length - 1));
    const [a, b, c, d] = at.map((i) => rows[i]);
    const [outA, outB, outC, outD] = at.map((i) => out[i]);
    for (let k = 0; k < blocks.length; k++) {
      const block = blocks[k];
      const from = k * band;
      for (let i = 0; i < band; i++) {
        let [sumA, sumB, sumC, sumD] = [0, 0, 0, 0];
        for (let j = 0, weight = i * band; j <= i; j++, weight++) {
          const factor = block[weight];
          sumA += factor * a[from + j];
          sumB += factor * b[from + j];
          sumC += factor * c[from + j];
          sumD += factor * d[from + j];
        }
        outA[from + i] = sumA;
        outB[from + i] = sumB;
        outC[from + i] = sumC;
        outD[from + i] = sumD;
      }
    }
  }
  return out;
};

/** Whitens rows: y = L^-1 x for covariance blocks L L' along the diagonal. */
export function blockWhitener(
  blocks: readonly Float64Array[],
  band: number,
  multiply: LowerProducts = lowerProducts,
): (rows: readonly Float64Array[]) => Float64Array[] {
  const factors = blocks.map((block) => choleskyInverse(block, band));
  return (rows) => multiply(factors, band, rows);
}

/** Distances by one set of statistics. */
export class Metric {
  readonly #band: number;
  readonly #blocks: readonly Float64Array[];
  readonly #mean: Float64Array;
  readonly #precision: readonly Float64Array[];
  #whiten: ReturnType<typeof blockWhitener> | null = null;

  constructor(
    readonly statistics: ResidualStatistics,
    readonly concepts: number,
    readonly conceptSize: number,
    readonly multiply: LowerProducts = lowerProducts,
  ) {
    const size = concepts * conceptSize;
    this.#band = bandOf(statistics.form, size, conceptSize);
    this.#blocks = blocksOf(statistics, size, this.#band);
    this.#precision = this.#blocks.map((block) => invertPositive(block, this.#band));
    this.#mean = Float64Array.from(statistics.mean);
  }

  /** Shares of the concepts [M] in the distance of a residual [D]; they add up to it. */
  shares(residual: ArrayLike<number>): Float64Array {
    const { concepts, conceptSize } = this;
    const d = this.#mean.map((mean, i) => residual[i] - mean);
    const scaled = blockProduct(this.#precision, this.#band, d);
    const shares = new Float64Array(concepts);
    for (let i = 0; i < d.length; i++) shares[Math.floor(i / conceptSize)] += d[i] * scaled[i];
    return shares;
  }

  /** Encoded concepts [D] of panels in coordinates in which the distance is plain Euclidean. */
  encoded(rows: readonly Float64Array[]): Float64Array[] {
    this.#whiten ??= blockWhitener(this.#blocks, this.#band, this.multiply);
    return this.#whiten(rows);
  }

  /** Predicted concepts [D] of panels in the same coordinates. */
  predicted(rows: readonly Float64Array[]): Float64Array[] {
    return this.encoded(rows.map((row) => this.#mean.map((mean, i) => row[i] + mean)));
  }
}

function unpackTriangle(packed: Float32Array, size: number): Float64Array {
  const matrix = new Float64Array(size * size);
  for (let i = 0, at = 0; i < size; i++) {
    for (let j = 0; j <= i; j++, at++) {
      matrix[i * size + j] = packed[at];
      matrix[j * size + i] = packed[at];
    }
  }
  return matrix;
}

/** The lower triangle of a symmetric matrix, row by row. */
export function packTriangle(matrix: ArrayLike<number>, size: number): Float32Array {
  const packed = new Float32Array((size * (size + 1)) / 2);
  for (let i = 0, at = 0; i < size; i++) {
    for (let j = 0; j <= i; j++, at++) packed[at] = matrix[i * size + j];
  }
  return packed;
}

/** Squared L2 distance of each concept [M] of a residual [D]. */
export function squaredShares(
  residual: ArrayLike<number>,
  concepts: number,
  conceptSize: number,
): Float64Array {
  const shares = new Float64Array(concepts);
  for (let i = 0; i < residual.length; i++) shares[Math.floor(i / conceptSize)] += residual[i] ** 2;
  return shares;
}

/** The statistics of a bundle; inverses are worked out when first needed. */
export class Metrics {
  readonly #made = new Map<StatisticsKey, Metric>();

  constructor(
    readonly statistics: SelectionStatistics,
    readonly concepts: number,
    readonly conceptSize: number,
    /** A program with a faster way than loops may bring it. */
    readonly multiply: LowerProducts = lowerProducts,
  ) {}

  /**
   * What fits a missing set best, or null if there are no statistics. With `anywhere` panel 9 is treated as
   * any other position.
   */
  for(missing: readonly number[], anywhere = false): Metric | null {
    const key = keyFor(missing, this.statistics, anywhere);
    const found = key === undefined ? undefined : this.statistics.get(key);
    if (key === undefined || found === undefined) return null;
    let metric = this.#made.get(key);
    if (metric === undefined) {
      metric = new Metric(found, this.concepts, this.conceptSize, this.multiply);
      this.#made.set(key, metric);
    }
    return metric;
  }
}

function expectedLength(form: CovarianceForm, concepts: number, conceptSize: number): number {
  const size = concepts * conceptSize;
  switch (form) {
    case 'identity':
      return 1;
    case 'diagonal':
      return size;
    case 'blocks':
      return size * conceptSize;
    case 'full':
      return (size * (size + 1)) / 2;
  }
}

const METADATA_KEY = 'selection';

const FILE = 'selection.safetensors';

const facts = dictionary(
  objectWith({
    form: oneOf(COVARIANCE_FORMS),
    temperature: number({ above: 0 }),
    shrinkage: number(),
  }),
);

export const isStatisticsKey = (key: string): key is StatisticsKey =>
  /^(last|targets[1-8])$/.test(key);

/** Reads `selection.safetensors`. */
export function parseSelection(
  bytes: Uint8Array,
  concepts: number,
  conceptSize: number,
): SelectionStatistics {
  const { tensors, metadata } = parseSafetensors(bytes, FILE);
  const json = parseJson(metadata[METADATA_KEY] ?? '', BundleError, FILE);
  const statistics = new Map<StatisticsKey, ResidualStatistics>();
  for (const [key, fact] of Object.entries(read(facts, json, BundleError, FILE))) {
    if (!isStatisticsKey(key)) {
      throw new BundleError(
        `${FILE}: expected last or targets1 to targets${LARGEST_TARGETS}, found ${shown(key)}`,
      );
    }
    const length = expectedLength(fact.form, concepts, conceptSize);
    statistics.set(key, {
      ...fact,
      mean: valuesOf(tensors.get(`${key}.mean`), concepts * conceptSize, `${key}.mean`),
      covariance: valuesOf(tensors.get(`${key}.covariance`), length, `${key}.covariance`),
    });
  }
  return statistics;
}

function valuesOf(array: StoredArray | undefined, length: number, name: string): Float32Array {
  if (array?.data.length !== length || !array.data.every(Number.isFinite)) {
    throw new BundleError(`${FILE}: ${name} is not ${length} numbers`);
  }
  return array.data;
}

/** The bytes of `selection.safetensors`. */
export function formatSelection(statistics: SelectionStatistics): Uint8Array {
  const tensors = new Map<string, StoredArray>();
  const facts: Record<string, unknown> = {};
  for (const [key, { form, shrinkage, temperature, mean, covariance }] of statistics) {
    facts[key] = { form, shrinkage, temperature };
    tensors.set(`${key}.mean`, { shape: [mean.length], data: mean });
    tensors.set(`${key}.covariance`, { shape: [covariance.length], data: covariance });
  }
  return formatSafetensors({ tensors, metadata: { [METADATA_KEY]: JSON.stringify(facts) } });
}
