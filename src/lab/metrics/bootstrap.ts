/**
 * 95% intervals by bootstrap: problems are drawn again with replacement, a thousand times, and the
 * middle 95% of the means kept (percentile method). The same resamples serve every value measured on
 * the same problems, so that values that move together have intervals that move together. Shares of
 * exactly 0 or 1 never vary among resamples; theirs is the Wilson interval.
 */
import { Random } from '../../matrix/index.js';
import type { Measured } from '../evaluation.js';

const RESAMPLES = 1000;
const SEED = 7_300_000_001;
const TAIL = 0.025;
/** Square of the normal quantile that leaves both tails. */
const QUANTILE_SQUARED = 1.959963984540054 ** 2;

export class Bootstrap {
  /** How often each resample holds each problem: u8 [RESAMPLES, count]. */
  readonly #times: Uint8Array;

  constructor(
    readonly count: number,
    seed = SEED,
  ) {
    if (count < 1) throw new RangeError('bootstrap: there are no problems');
    this.#times = new Uint8Array(RESAMPLES * count);
    const random = new Random(seed, count);
    for (let r = 0; r < RESAMPLES; r++) {
      const first = r * count;
      for (let i = 0; i < count; i++) this.#times[first + random.below(count)]++;
    }
  }

  /** The interval of anything that is worked out from how often each problem stands in a resample. */
  interval(statistic: (times: Uint8Array) => number): {
    readonly low: number;
    readonly high: number;
  } {
    const values = Float64Array.from({ length: RESAMPLES }, (_, r) =>
      statistic(this.#times.subarray(r * this.count, (r + 1) * this.count)),
    ).sort();
    const tail = Math.floor(TAIL * RESAMPLES);
    return { low: values[tail], high: values[RESAMPLES - 1 - tail] };
  }

  /** The mean of one value for each problem, with its interval. */
  mean(values: ArrayLike<number>): Measured {
    return this.ratio(
      values,
      Float64Array.from({ length: this.count }, () => 1),
    );
  }

  /** The mean of a fraction 0..1 for each problem, with its interval, which always has a width. */
  share(fractions: ArrayLike<number>): Measured {
    const measured = this.mean(fractions);
    const beyond = QUANTILE_SQUARED / (this.count + QUANTILE_SQUARED);
    if (measured.value === 0) return { value: 0, low: 0, high: beyond };
    if (measured.value === 1) return { value: 1, low: 1 - beyond, high: 1 };
    return measured;
  }

  /** Sum of values over sum of weights, e.g. the share of something among those it can apply to. */
  ratio(values: ArrayLike<number>, weights: ArrayLike<number>): Measured {
    const { count } = this;
    if (values.length !== count || weights.length !== count) {
      throw new RangeError(`bootstrap: ${values.length} values for ${count} problems`);
    }
    const interval = this.interval((times) => {
      let [above, below] = [0, 0];
      for (let i = 0; i < count; i++) {
        above += times[i] * values[i];
        below += times[i] * weights[i];
      }
      return below === 0 ? 0 : above / below;
    });
    let [above, below] = [0, 0];
    for (let i = 0; i < count; i++) {
      above += values[i];
      below += weights[i];
    }
    return { value: below === 0 ? 0 : above / below, ...interval };
  }
}
