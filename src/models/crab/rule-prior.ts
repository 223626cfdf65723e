/**
 * The prior knowledge of rules p(r^m): one Gaussian mixture for each concept, fitted on the host and
 * held on the device as tensors that are overwritten in place, so that a captured CUDA graph sees every
 * refit (Algorithm 1, "Global Rule Abstraction"). A refit depends on its inputs and seed alone.
 */
import { keep, noGrad, uploadLater, zeros, type Device, type Tensor } from '../../torch/index.js';
import { ModelError } from '../errors.js';
import { fitGaussianMixture } from '../mixture/expectation-maximization.js';
import { whiteningFactors } from '../mixture/linear-algebra.js';
import { explain, logNormalizers, sortedByWeight } from '../mixture/mixture.js';
import type { GaussianMixture } from '../mixture/mixture.js';
import { pointsOf } from '../mixture/points.js';
import { fitBayesianMixture } from '../mixture/variational.js';
import type { RulePriorConfig } from './config.js';

/** Mixtures of all concepts on the device, f32. */
export interface PriorTensors {
  /** [M, K] */
  readonly logWeights: Tensor;
  /** [M, K, d_r] */
  readonly means: Tensor;
  /** Inverses of the Cholesky factors of the covariances, [M, K, d_r, d_r]. */
  readonly whitening: Tensor;
  /** Logs of the factors in front of the exponentials, [M, K]. */
  readonly logNormalizers: Tensor;
}

/** A mixture as plain JSON data. */
export interface MixtureData {
  readonly weights: readonly number[];
  readonly means: readonly (readonly number[])[];
  readonly covariances: readonly (readonly (readonly number[])[])[];
}

/** Standard normals: what stands in for a prior before the first fit. */
function unfitted(components: number, dimension: number): GaussianMixture {
  const square = dimension * dimension;
  const covariances = new Float64Array(components * square);
  for (let i = 0; i < covariances.length; i++) {
    covariances[i] = (i % square) % (dimension + 1) === 0 ? 1 : 0;
  }
  return {
    dimension,
    components,
    weights: new Float64Array(components).fill(1 / components),
    means: new Float64Array(components * dimension),
    covariances,
  };
}

/** One mixture for each concept from rules [M, N, d_r] in row-major order. */
export function fitMixtures(
  rules: Float32Array | Float64Array,
  concepts: number,
  dimension: number,
  config: RulePriorConfig,
  seed: number,
): GaussianMixture[] {
  const width = rules.length / concepts;
  if (!Number.isInteger(width / dimension) || width === 0) {
    throw new ModelError(
      `rule prior: ${rules.length} values for ${concepts} concepts of ${dimension}`,
    );
  }
  const fit = config.learner === 'em' ? fitGaussianMixture : fitBayesianMixture;
  return Array.from({ length: concepts }, (_, m) => {
    const points = pointsOf(rules.subarray(m * width, (m + 1) * width), dimension);
    const { mixture } = fit(points, {
      components: config.components,
      tolerance: config.tolerance,
      covarianceFloor: config.covarianceFloor,
      start: { kind: 'k-means', seed: seed + m },
    });
    return sortedByWeight(mixture);
  });
}

export class RulePrior {
  readonly tensors: PriorTensors;
  #mixtures: readonly GaussianMixture[];
  #fitted = false;

  constructor(
    readonly concepts: number,
    readonly dimension: number,
    readonly config: RulePriorConfig,
    device: Device = 'cpu',
  ) {
    const k = config.components;
    const held = (shape: number[]): Tensor => keep(zeros(shape, { device }));
    this.tensors = {
      logWeights: held([concepts, k]),
      means: held([concepts, k, dimension]),
      whitening: held([concepts, k, dimension, dimension]),
      logNormalizers: held([concepts, k]),
    };
    this.#mixtures = Array.from({ length: concepts }, () => unfitted(k, dimension));
    this.#write();
  }

  /** Whether it was ever fitted or loaded; before, it is a standard normal. */
  get isFitted(): boolean {
    return this.#fitted;
  }

  /** One for each concept, components by falling weight. */
  get mixtures(): readonly GaussianMixture[] {
    return this.#mixtures;
  }

  /** Fits to rules [M, N, d_r], samples of q(r|z) of one batch. */
  refit(rules: Float32Array | Float64Array, seed: number): void {
    this.load(fitMixtures(rules, this.concepts, this.dimension, this.config, seed));
  }

  /** Takes over mixtures fitted elsewhere, e.g. in a worker thread or read from a checkpoint. */
  load(mixtures: readonly GaussianMixture[]): void {
    const fits = mixtures.every(
      ({ components, dimension }) =>
        components === this.config.components && dimension === this.dimension,
    );
    if (mixtures.length !== this.concepts || !fits) {
      throw new ModelError(
        `rule prior: expected ${this.concepts} mixtures of ${this.config.components} components in ${this.dimension} dimensions`,
      );
    }
    this.#mixtures = [...mixtures];
    this.#fitted = true;
    this.#write();
  }

  /**
   * Probabilities of the categories (components) of rules [N, d_r] of one concept (0-based), as rows
   * [N][K], and log p(r) [N].
   */
  categories(
    concept: number,
    rules: ArrayLike<number>,
  ): { probabilities: number[][]; logDensity: number[] } {
    const mixture = this.#mixtures[concept];
    const { responsibilities, logDensity } = explain(mixture, pointsOf(rules, this.dimension));
    const k = mixture.components;
    const rows = Array.from({ length: logDensity.length }, (_, i) => [
      ...responsibilities.subarray(i * k, (i + 1) * k),
    ]);
    return { probabilities: rows, logDensity: [...logDensity] };
  }

  /** For checkpoints and bundles. */
  toJSON(): MixtureData[] {
    return this.#mixtures.map(mixtureData);
  }

  dispose(): void {
    for (const each of Object.values(this.tensors) as Tensor[]) each.dispose();
  }

  #write(): void {
    const { concepts, dimension } = this;
    const k = this.config.components;
    const parts = this.#mixtures.map((mixture) => {
      const whitening = whiteningFactors(mixture.covariances, k, dimension);
      const logs = mixture.weights.map((weight) => Math.log(Math.max(weight, 1e-300)));
      return { ...mixture, whitening, logs, norms: logNormalizers(whitening, k, dimension) };
    });
    // Training must not wait until the device's queue is empty.
    const write = (into: Tensor, choose: (part: (typeof parts)[number]) => Float64Array): void => {
      const values = new Float32Array(concepts * choose(parts[0]).length);
      parts.forEach((part, m) => values.set(choose(part), m * choose(part).length));
      uploadLater(into, values);
    };
    noGrad(() => {
      write(this.tensors.logWeights, ({ logs }) => logs);
      write(this.tensors.means, ({ means }) => means);
      write(this.tensors.whitening, ({ whitening }) => whitening);
      write(this.tensors.logNormalizers, ({ norms }) => norms);
    });
  }
}

/** A mixture as plain data. */
export function mixtureData({
  dimension: d,
  weights,
  means,
  covariances,
}: GaussianMixture): MixtureData {
  const rows = (values: Float64Array): number[][] =>
    Array.from({ length: values.length / d }, (_, i) => [...values.subarray(i * d, (i + 1) * d)]);
  const flat = rows(covariances);
  return {
    weights: [...weights],
    means: rows(means),
    covariances: Array.from(weights, (_, k) => flat.slice(k * d, (k + 1) * d)),
  };
}

/** Mixtures from the data of `mixtureData`, of which nothing is trusted. */
export function mixturesOf(data: readonly MixtureData[]): GaussianMixture[] {
  return data.map(({ weights, means, covariances }) => {
    const components = weights.length;
    const dimension = means[0]?.length ?? 0;
    const mixture = {
      components,
      dimension,
      weights: Float64Array.from(weights),
      means: Float64Array.from(means.flat()),
      covariances: Float64Array.from(covariances.flat(2)),
    };
    const sound =
      components > 0 &&
      dimension > 0 &&
      mixture.means.length === components * dimension &&
      mixture.covariances.length === components * dimension * dimension &&
      [mixture.weights, mixture.means, mixture.covariances].every((v) => v.every(Number.isFinite));
    if (!sound) throw new ModelError('rule prior: the stored mixture is damaged');
    return mixture;
  });
}

/**
 * log p(r^m) of samples [M, N, d_r], as [M, N]: of the mixture, or, with `density` 'component', of the
 * Gaussian of the most likely component alone, as in the released code.
 */
export function logRulePrior(
  samples: Tensor,
  prior: PriorTensors,
  density: RulePriorConfig['density'],
): Tensor {
  const gap = samples.unsqueeze(2).sub(prior.means.unsqueeze(1)); // [M, N, K, d_r]
  const whitened = prior.whitening
    .unsqueeze(1) // [M, 1, K, d_r, d_r]
    .mul(gap.unsqueeze(3)) // [M, N, K, d_r, d_r]
    .sum(4);
  const logs = whitened.square().sum(3).mul(-0.5).add(prior.logNormalizers.unsqueeze(1)); // [M, N, K]
  const weighted = logs.add(prior.logWeights.unsqueeze(1));
  if (density === 'mixture') return weighted.logsumexp(2);
  const likely = weighted.detach().argmax(2, true); // [M, N, 1]
  return logs.gather(2, likely).squeeze(2);
}
