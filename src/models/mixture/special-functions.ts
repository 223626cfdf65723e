/** Digamma and log-gamma for positive arguments, to about 1e-13 relative: what a Dirichlet needs. */

const ASYMPTOTIC_FROM = 10;

/** Derivative of log-gamma, x > 0: recurrence up to 10, then the asymptotic series. */
export function digamma(x: number): number {
  let shift = 0;
  while (x < ASYMPTOTIC_FROM) {
    shift -= 1 / x;
    x += 1;
  }
  const inverse = 1 / (x * x);
  const series =
    inverse *
    (1 / 12 -
      inverse *
        (1 / 120 -
          inverse *
            (1 / 252 -
              inverse * (1 / 240 - inverse * (1 / 132 - inverse * (691 / 32760 - inverse / 12))))));
  return shift + Math.log(x) - 0.5 / x - series;
}

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

/** Logarithm of the gamma function, x > 0: recurrence up to 10, then Stirling's series. */
export function logGamma(x: number): number {
  let product = 1;
  while (x < ASYMPTOTIC_FROM) {
    product *= x;
    x += 1;
  }
  const inverse = 1 / (x * x);
  const series =
    (1 / 12 -
      inverse *
        (1 / 360 -
          inverse *
            (1 / 1260 - inverse * (1 / 1680 - inverse * (1 / 1188 - inverse * (691 / 360360)))))) /
    x;
  return (x - 0.5) * Math.log(x) - x + HALF_LOG_TWO_PI + series - Math.log(product);
}

/** Logarithm of the beta function. */
export const logBeta = (a: number, b: number): number =>
  logGamma(a) + logGamma(b) - logGamma(a + b);
