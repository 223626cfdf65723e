/**
 * Chi-square tests for the statistics of generated problems: goodness of fit and homogeneity, with the
 * p-value from the regularised incomplete gamma function (series and continued fraction, as in Numerical
 * Recipes). Bins with an expected count below five are merged, as the approximation needs.
 */

/** Lanczos' approximation (g = 5, six terms), good to 2e-10. */
function logGamma(x: number): number {
  const coefficients = [
    76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155,
    0.1208650973866179e-2, -0.5395239384953e-5,
  ];
  const shifted = x + 5.5 - (x + 0.5) * Math.log(x + 5.5);
  let series = 1.000000000190015;
  coefficients.forEach((c, i) => (series += c / (x + 1 + i)));
  return -shifted + Math.log((2.5066282746310005 * series) / x);
}

function lowerSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < 1000; n++) {
    term *= x / (a + n);
    sum += term;
    if (term < sum * 1e-15) break;
  }
  return sum * Math.exp(-x + a * Math.log(x) - logGamma(a));
}

function upperFraction(a: number, x: number): number {
  const tiny = 1e-300;
  let b = x + 1 - a;
  let c = 1 / tiny;
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < 1000; i++) {
    const an = -i * (i - a);
    b += 2;
    d = 1 / (Math.abs(an * d + b) < tiny ? tiny : an * d + b);
    c = Math.abs(b + an / c) < tiny ? tiny : b + an / c;
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return h * Math.exp(-x + a * Math.log(x) - logGamma(a));
}

/** Upper regularised incomplete gamma function Q(a, x). */
function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  return x < a + 1 ? 1 - lowerSeries(a, x) : upperFraction(a, x);
}

/** The probability of a chi-square variable with that many degrees of freedom at or above a value. */
export const chiSquareTail = (value: number, degrees: number): number =>
  degrees <= 0 ? 1 : upperGamma(degrees / 2, value / 2);

/** Merges bins, rarest first, until every one of them is large enough. */
function merged(bins: number[][], largeEnough: (bin: readonly number[]) => boolean): number[][] {
  const weight = (bin: readonly number[]): number => bin.reduce((a, b) => a + b, 0);
  const sorted = bins.filter((bin) => weight(bin) > 0).sort((a, b) => weight(a) - weight(b));
  while (sorted.length > 1 && !largeEnough(sorted[0])) {
    const [small, next] = sorted.splice(0, 2);
    sorted.push(small.map((count, i) => count + next[i]));
    sorted.sort((a, b) => weight(a) - weight(b));
  }
  return sorted;
}

/** p-value of the observed counts under expected proportions. */
export function goodnessOfFit(observed: readonly number[], proportions: readonly number[]): number {
  const total = observed.reduce((a, b) => a + b, 0);
  const bins = merged(
    observed.map((count, i) => [count, proportions[i] * total]),
    ([, expected]) => expected >= 5,
  );
  const value = bins.reduce(
    (sum, [count, expected]) => sum + (count - expected) ** 2 / expected,
    0,
  );
  return chiSquareTail(value, bins.length - 1);
}

/** How often each key occurs. */
export function tally(keys: Iterable<string | number>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(String(key), (counts.get(String(key)) ?? 0) + 1);
  return counts;
}

/** p-value of two samples having come from one distribution. */
export function homogeneity(
  a: ReadonlyMap<string, number>,
  b: ReadonlyMap<string, number>,
): number {
  const sum = (counts: ReadonlyMap<string, number>): number =>
    [...counts.values()].reduce((x, y) => x + y, 0);
  const totals = [sum(a), sum(b)];
  const shares = totals.map((total) => total / (totals[0] + totals[1]));
  const keys = new Set([...a.keys(), ...b.keys()]);
  const bins = merged(
    // In the order of the keys: which bins are merged must not depend on which sample they came from.
    [...keys].sort().map((key) => [a.get(key) ?? 0, b.get(key) ?? 0]),
    (bin) => Math.min(...shares) * (bin[0] + bin[1]) >= 5,
  );
  let value = 0;
  for (const bin of bins) {
    bin.forEach((count, i) => {
      const expected = shares[i] * (bin[0] + bin[1]);
      value += (count - expected) ** 2 / expected;
    });
  }
  return chiSquareTail(value, bins.length - 1);
}
