/**
 * CLAP-NP: panels are M concepts, and the law of each is a neural process: a random function, known by a
 * Gaussian vector f, from grid position to concept. A penalty on total correlation pushes concepts apart (Shi,
 * Li and Xue, "Compositional Law Parsing with Latent Random Functions", ICLR 2023). Sizes are those of its
 * released code, weights those of the CRAB paper. First weights are He's and the noise of f is small at first:
 * otherwise it hides how the laws of matrices differ, and the networks learn slowly or not at all to use them.
 */
import { integer, object, type Read } from '../../base/index.js';
import { MATRIX_PANELS, type Configuration } from '../../matrix/index.js';
import { atLeastSingle, cat, nn, onesLike, type Tensor } from '../../torch/index.js';
import { equalDeviationKl, gaussianKl, sampled } from '../crab/distributions.js';
import type { Gaussian } from '../crab/rule-parser.js';
import { ConceptModel } from '../parts/concept-model.js';
import { deviation, generativeSystem, weightsReader } from '../parts/generative.js';
import type { TargetBatch } from '../parts/generative.js';
import { gridPositions, openMean } from '../parts/grid.js';
import { sizeKeepingMlp } from '../parts/mlp.js';
import { coderReader, meanOverSets, PanelCoder, zeroedAtMissing } from '../parts/panel-coder.js';
import { width, widths } from '../parts/settings.js';
import { totalCorrelation } from '../parts/total-correlation.js';
import { constant } from '../schedule.js';
import type { CreateOptions } from '../system.js';

const network = object({
  coder: coderReader,
  /** Width between the encoder's convolutions and the concepts. */
  encoded: width,
  concepts: integer({ min: 1, max: 64 }),
  conceptSize: width,
  /** Size of f, which stands for a law. */
  functionSize: width,
  /** Hidden layer and output of the networks that embed concepts and positions. */
  embedding: widths,
  /** Hidden layers and output of the network whose outputs are averaged over panels. */
  aggregation: widths,
  /** Hidden layers of the network from that average to f. */
  functionHidden: widths,
  /** Hidden layers of the network from f and a position to a concept. */
  valueHidden: widths,
});

const objective = object({
  sigmaX: deviation,
  /** Fixed standard deviation of concepts. */
  sigmaZ: deviation,
  weights: weightsReader('targetRegularizer', 'functionRegularizer', 'totalCorrelation'),
});

/** The standard deviation of f stays within these, and begins near exp(-2) = 0.14. */
const DEVIATIONS = [0.01, 3].map(Math.log) as [number, number];
const FIRST_LOG_DEVIATION = -2;
/** Most samples that the total correlation is estimated with. */
const MOST_SAMPLES = 2048;

export class ClapNp extends ConceptModel {
  readonly coder: PanelCoder;
  readonly head: nn.Linear;
  readonly embedConcept: nn.Sequential;
  readonly embedPosition: nn.Sequential;
  readonly aggregate: nn.Sequential;
  readonly functionHead: nn.Sequential;
  readonly value: nn.Sequential;
  readonly grid: nn.Buffer;

  constructor(
    readonly sizes: Read<typeof network>,
    options: CreateOptions,
  ) {
    super();
    const { coder, encoded, concepts, conceptSize, functionSize } = sizes;
    const { embedding, aggregation, functionHidden, valueHidden } = sizes;
    const values = concepts * conceptSize;
    this.coder = new PanelCoder(coder, { outputs: encoded, inputs: values }, options);
    this.head = new nn.Linear(encoded, values, options);
    const each = (...widths: number[]): nn.Sequential => sizeKeepingMlp(widths, concepts, options);
    const embedded = embedding[embedding.length - 1];
    const pooled = aggregation[aggregation.length - 1];
    this.embedConcept = each(conceptSize, ...embedding);
    this.embedPosition = each(2, ...embedding);
    this.aggregate = each(2 * embedded, ...aggregation);
    this.functionHead = each(pooled, ...functionHidden, 2 * functionSize);
    this.value = each(functionSize + embedded, ...valueHidden, conceptSize);
    this.grid = gridPositions();
  }

  /** Panels [N, P, 64, 64] to means of concepts [M, N, P, d]. */
  encode(panels: Tensor): Tensor {
    const [n, p] = panels.shape;
    const { concepts, conceptSize } = this.sizes;
    return atLeastSingle(this.head.forward(this.coder.encode(panels)))
      .reshape([n, p, concepts, conceptSize])
      .permute([2, 0, 1, 3]);
  }

  /** f of concepts [M, N, 9, d] under G sets of panels that are looked at, [N, G, 9]: [M, N, G, size]. */
  functions(concepts: Tensor, open: Tensor): Gaussian {
    const [m, n] = concepts.shape;
    const { functionSize } = this.sizes;
    const values = this.embedConcept
      .forward(concepts.flatten(1, 2))
      .reshape([m, n, MATRIX_PANELS, -1]);
    const both = cat([values, this.#positions(n)], 3).flatten(1, 2); // [M, N * 9, 2 e]
    const features = atLeastSingle(this.aggregate.forward(both)).reshape([m, n, MATRIX_PANELS, -1]);
    const pooled = openMean(features, open); // [M, N, G, pooled]
    const raw = atLeastSingle(this.functionHead.forward(pooled.flatten(1, 2)));
    const [mean, logDeviation] = raw.reshape([m, n, open.shape[1], -1]).split(functionSize, 3);
    const deviation = logDeviation
      .add(FIRST_LOG_DEVIATION)
      .clamp(...DEVIATIONS)
      .exp();
    return { mean, deviation };
  }

  /** Means of concepts at every position, [M, N, 9, d], by laws [M, N, size]. */
  values(laws: Tensor): Tensor {
    const [m, n, size] = laws.shape;
    const everywhere = laws.unsqueeze(2).expand([m, n, MATRIX_PANELS, size]);
    const positions = this.#positions(n);
    const both = cat([everywhere.to({ dtype: positions.dtype }), positions], 3).flatten(1, 2);
    return atLeastSingle(this.value.forward(both)).reshape([m, n, MATRIX_PANELS, -1]);
  }

  /** Embedded positions for each problem, [M, N, 9, e]. */
  #positions(n: number): Tensor {
    const m = this.sizes.concepts;
    const embedded = this.embedPosition.forward(
      this.grid.unsqueeze(0).expand([m, MATRIX_PANELS, 2]),
    );
    return embedded.unsqueeze(1).expand([m, n, MATRIX_PANELS, embedded.shape[2]]);
  }

  conceptsOf(panels: Tensor): Tensor {
    return this.encode(panels).permute([1, 2, 0, 3]); // [N, P, M, d]
  }

  predictConcepts(concepts: Tensor, context: Tensor): Tensor {
    const known = zeroedAtMissing(concepts, context).permute([2, 0, 1, 3]); // [M, N, 9, d]
    const { mean } = this.functions(known, context.unsqueeze(1));
    return this.values(mean.squeeze(2)).permute([1, 2, 0, 3]);
  }

  paint(concepts: Tensor): Tensor {
    return this.coder.decode(concepts.flatten(2));
  }
}

function evaluate(model: ClapNp, batch: TargetBatch, own: Read<typeof objective>) {
  const { sigmaX, sigmaZ } = own;
  const { panels, context } = batch;
  const { concepts: m, conceptSize: d, functionSize } = model.sizes;
  const means = model.encode(panels); // [M, N, 9, d]
  const noise = batch.noise(MATRIX_PANELS, m, d).permute([2, 0, 1, 3]);
  const concepts = sampled(means, sigmaZ, noise);

  // q(f | all nine) and p(f | context) of every target set, by the same network.
  const open = cat([onesLike(context.narrow(1, 0, 1)), context], 1); // [N, 1 + S, 9]
  const functions = model.functions(concepts, open); // [M, N, 1 + S, size]
  const posterior = slice(functions, 0, 1);
  const prior = slice(functions, 1, context.shape[1]);
  const lawNoise = batch.noise(m, functionSize).permute([1, 0, 2]); // [M, N, size]
  const laws = sampled(posterior.mean.squeeze(2), posterior.deviation.squeeze(2), lawNoise);
  const errors = equalDeviationKl(means, model.values(laws), sigmaZ).sum([0, 3]); // [N, 9]

  const [n, s] = context.shape;
  const rows = concepts.permute([1, 2, 0, 3]).flatten(2).unsqueeze(1); // [N, 1, 9, M d]
  return {
    reconstruction: model.coder.targetLikelihood(batch, rows, sigmaX).squeeze(0),
    targetRegularizer: meanOverSets(errors.unsqueeze(1), context),
    functionRegularizer: gaussianKl(posterior, prior)
      .sum()
      .div(n * s),
    totalCorrelation: correlation(concepts, means, batch, sigmaZ),
  };
}

/** Samples are one panel of each problem: its first target, which is as good as any. */
function correlation(
  concepts: Tensor,
  means: Tensor,
  { index, gather }: TargetBatch,
  sigmaZ: number,
): Tensor {
  const [m, n, , d] = concepts.shape;
  const chosen = index.select(1, 0).narrow(1, 0, 1); // [N, 1]
  const places = chosen.reshape([1, n, 1, 1]).expand([m, n, 1, d]);
  const samples = concepts.gather(2, places).squeeze(2); // [M, N, d]
  const count = Math.min(n, MOST_SAMPLES);
  return totalCorrelation(samples.narrow(1, 0, count), gather(means, 1).flatten(1, 2), sigmaZ);
}

const slice = ({ mean, deviation }: Gaussian, from: number, count: number): Gaussian => ({
  mean: mean.narrow(2, from, count),
  deviation: deviation.narrow(2, from, count),
});

const row = (
  concepts: number,
  target: number,
  law: number,
  correlation: number,
  sigmaZ: number,
) => ({ concepts, target, law, correlation, sigmaZ });

/** The CRAB paper's settings of CLAP-NP: M, the weights beta_t, beta_f and beta_TC, and sigma_z. */
const ROWS: Readonly<Record<Configuration, ReturnType<typeof row>>> = {
  center: row(5, 100, 100, 100, 0.1),
  'left-right': row(10, 50, 50, 50, 0.1),
  'up-down': row(10, 50, 50, 50, 0.1),
  'out-in-center': row(6, 30, 60, 50, 0.4),
  'out-in-grid': row(8, 30, 30, 30, 0.1),
  'grid-2x2': row(8, 30, 30, 30, 0.3),
  'grid-3x3': row(10, 80, 80, 80, 0.3),
};

export const clapNp = generativeSystem({
  name: 'clap-np',
  title: 'CLAP-NP, concepts that follow neural processes (Shi, Li and Xue 2023)',
  can: ['impute', 'concepts'],
  network,
  objective,
  settings: (configuration) => {
    const { concepts, target, law, correlation, sigmaZ } = ROWS[configuration];
    return {
      network: {
        coder: {
          encoder: [32, 32, 64, 128, 256],
          decoder: [128, 64, 32, 32, 32],
          decoderSlope: 0,
        },
        encoded: 512,
        concepts,
        conceptSize: 8,
        functionSize: 64,
        embedding: [32, 16],
        aggregation: [256, 256, 128],
        functionHidden: [128],
        valueHidden: [128, 128],
      },
      objective: {
        sigmaX: 0.1,
        sigmaZ,
        weights: {
          targetRegularizer: constant(target),
          functionRegularizer: constant(law),
          totalCorrelation: constant(correlation),
        },
      },
      optimizer: { learningRate: 5e-4, batchSize: 256 },
    };
  },
  create: (sizes, options) => new ClapNp(sizes, options),
  likelihoods: ['reconstruction'],
  evaluate,
});
