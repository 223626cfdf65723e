/** The 95% interval of a share by Wilson's formula: honest for few trials and for shares of 0 and 1. */

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Normal quantile that leaves 2.5% on either side. */
const QUANTILE = 1.959963984540054;

/** Of `right` among `count` trials, at least one. */
export function wilsonInterval(right: number, count: number): Interval {
  if (!(count >= 1 && right >= 0 && right <= count)) {
    throw new RangeError(`wilson interval: ${right} of ${count} is no share`);
  }
  const squared = QUANTILE ** 2;
  const centre = (right + squared / 2) / (count + squared);
  const spread = QUANTILE * Math.sqrt((right * (count - right)) / count + squared / 4);
  const half = spread / (count + squared);
  // Rounding must not leave a trace at the ends.
  return {
    low: right === 0 ? 0 : centre - half,
    high: right === count ? 1 : centre + half,
  };
}
