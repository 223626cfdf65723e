/**
 * The statistics of the lab: sums, variances, correlations, and 95% intervals by bootstrap.
 *
 * Bootstrap: problems are drawn again with replacement, a thousand times, and the middle 95% of the values
 * kept (percentile method). The same resamples serve every value measured on the same problems, so that
 * values that move together have intervals that move together. Shares of exactly 0 or 1 never vary among
 * resamples; theirs is the Wilson interval.
 */
import { wilsonInterval, type Interval } from '../base/index.js';
import { Random } from '../matrix/index.js';
import type { Measured } from './evaluation.js';

export const sumOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0);

export const meanOf = (values: readonly number[]): number => sumOf(values) / values.length;

/** With n - 1 in the denominator; null for fewer than two values. */
export function varianceOf(values: readonly number[]): number | null {
  if (values.length < 2) return null;
  const mean = meanOf(values);
  return sumOf(values.map((value) => (value - mean) ** 2)) / (values.length - 1);
}

/** Pearson's correlation; with one variable of 0 and 1 it is the point-biserial one. Null if one is constant. */
export function correlation(x: readonly number[], y: readonly number[]): number | null {
  const [mx, my] = [meanOf(x), meanOf(y)];
  let [xy, xx, yy] = [0, 0, 0];
  x.forEach((value, i) => {
    xy += (value - mx) * (y[i] - my);
    xx += (value - mx) ** 2;
    yy += (y[i] - my) ** 2;
  });
  // Rounding leaves a trace if nothing varies.
  const least = 1e-12 * x.length;
  return xx < least || yy < least ? null : xy / Math.sqrt(xx * yy);
}

/** Mean [D] and covariance [D, D] of vectors. */
export function momentsOf(vectors: Iterable<Float64Array>, size: number) {
  const mean = new Float64Array(size);
  const squares = new Float64Array(size * size);
  let count = 0;
  for (const vector of vectors) {
    count++;
    for (let i = 0; i < size; i++) {
      const value = vector[i];
      mean[i] += value;
      for (let j = 0, at = i * size; j <= i; j++, at++) squares[at] += value * vector[j];
    }
  }
  for (let i = 0; i < size; i++) mean[i] /= count;
  const covariance = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const value = squares[i * size + j] / count - mean[i] * mean[j];
      covariance[i * size + j] = value;
      covariance[j * size + i] = value;
    }
  }
  return { mean, covariance };
}

const RESAMPLES = 1000;
const SEED = 7_300_000_001;
const TAIL = 0.025;

export class Bootstrap {
  /** How often each resample holds each problem: u8 [resamples, count]. */
  readonly #times: Uint8Array;

  constructor(
    readonly count: number,
    readonly resamples = RESAMPLES,
  ) {
    if (count < 1) throw new RangeError('bootstrap: there are no problems');
    this.#times = new Uint8Array(resamples * count);
    const random = new Random(SEED, count);
    for (let r = 0; r < resamples; r++) {
      const first = r * count;
      for (let i = 0; i < count; i++) this.#times[first + random.below(count)]++;
    }
  }

  /**
   * The interval of anything that is worked out from how often each problem stands in a resample; null if
   * it is null in all of them.
   */
  interval(statistic: (times: Uint8Array) => number | null): Interval | null {
    const values: number[] = [];
    for (let r = 0; r < this.resamples; r++) {
      const value = statistic(this.#times.subarray(r * this.count, (r + 1) * this.count));
      if (value !== null) values.push(value);
    }
    if (values.length === 0) return null;
    values.sort((a, b) => a - b);
    const tail = Math.floor(TAIL * values.length);
    return { low: values[tail], high: values[values.length - 1 - tail] };
  }

  /** The mean of one value for each problem, with its interval. */
  mean(values: ArrayLike<number>): Measured {
    const { count } = this;
    if (values.length !== count) {
      throw new RangeError(`bootstrap: ${values.length} values for ${count} problems`);
    }
    const weighted = (times?: Uint8Array): number => {
      let sum = 0;
      for (let i = 0; i < count; i++) sum += times === undefined ? values[i] : times[i] * values[i];
      return sum / count;
    };
    const value = weighted();
    return { value, ...(this.interval(weighted) ?? { low: value, high: value }) };
  }

  /** The mean of a fraction 0..1 for each problem, with its interval, which always has a width. */
  share(fractions: ArrayLike<number>): Measured {
    const measured = this.mean(fractions);
    const { value } = measured;
    if (value !== 0 && value !== 1) return measured;
    return { value, ...wilsonInterval(value * this.count, this.count) };
  }
}

/** The share of problems of which something holds, with its interval. */
export const shareOf = (holds: readonly boolean[]): Measured =>
  new Bootstrap(holds.length).share(holds.map(Number));
