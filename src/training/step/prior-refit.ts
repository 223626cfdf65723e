/**
 * When the rule prior is fitted anew, and from what (Algorithm 1): every U steps, from the rules
 * sampled in the newest batch, for the steps that follow. It begins once its weight is above zero.
 */
import { fitMixtures, type RulePrior } from '../../models/index.js';
import { derivedSeed, STREAM } from '../random/philox.js';

/** Rules [M, N, d_r], row-major. */
export type RuleValues = Float32Array | Float64Array;

export class PriorRefit {
  #pending: { readonly step: number; readonly rules: () => RuleValues } | null = null;

  /** @param lag steps between the batch and its prior; 0 where the host waits for every step anyway */
  constructor(
    readonly prior: RulePrior,
    readonly seed: number,
    readonly lag: number,
  ) {}

  /** Whether the term of the prior takes part in a step of this weight. */
  isActive(weight: number): boolean {
    return weight > 0 && this.prior.isFitted;
  }

  /** Whether a step of this weight must hand over its rules. */
  isDue(step: number, weight: number): boolean {
    if (!(weight > 0) || this.#pending !== null) return false;
    return !this.prior.isFitted || (step + 1) % this.prior.config.refitEvery === 0;
  }

  /** Takes note of a due step; `rules` gives its rules [M, N, d_r] once the step is done. */
  request(step: number, rules: () => RuleValues): void {
    this.#pending = { step, rules };
    if (this.lag === 0) this.complete();
  }

  /** To be called before step `step`: fits if the lag has passed. */
  beforeStep(step: number): void {
    if (this.#pending !== null && step > this.#pending.step + this.lag) this.complete();
  }

  /** Fits now what was requested. */
  complete(): void {
    if (this.#pending === null) return;
    const { step, rules } = this.#pending;
    this.#pending = null;
    const values = rules();
    // A loss that is not finite is reported by the loop; its rules make no mixture.
    if (!values.every(Number.isFinite)) return;
    const { concepts, dimension, config } = this.prior;
    const seed = derivedSeed(this.seed, STREAM.prior, step) % 2 ** 31;
    this.prior.load(fitMixtures(values, concepts, dimension, config, seed));
  }
}
