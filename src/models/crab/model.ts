/**
 * CRAB as a whole: the networks and how concepts are laid out between them. Concepts are [M, N, P, d_z]
 * (concept, problem, panel, value) so that each concept's networks read their own slice. Everything
 * random and every weighting is in objective.ts.
 */
import {
  atLeastSingle,
  full,
  type Device,
  type Generator,
  type Tensor,
} from '../../torch/index.js';
import { ModelError } from '../errors.js';
import { ConceptModel } from '../parts/concept-model.js';
import { MATRIX_PANELS, SMALL_SIZE } from '../../matrix/index.js';
import type { NetworkConfig } from './config.js';
import { Decoder, Encoder } from './networks.js';
import { gatesOf, RuleParser, type Gaussian } from './rule-parser.js';
import { TargetPredictor } from './target-predictor.js';

export interface CrabModelOptions {
  /** The source of the first weights. */
  readonly generator: Generator;
  readonly device?: Device;
}

export class CrabModel extends ConceptModel {
  readonly encoder: Encoder;
  readonly decoder: Decoder;
  readonly ruleParser: RuleParser;
  readonly targetPredictor: TargetPredictor;

  constructor(
    readonly config: NetworkConfig,
    options: CrabModelOptions,
  ) {
    super();
    this.encoder = new Encoder(config, options);
    this.decoder = new Decoder(config, options);
    this.ruleParser = new RuleParser(config, options);
    this.targetPredictor = new TargetPredictor(config, options);
  }

  /** Means of concepts, f32 [M, N, P, d_z], of panels [N, P, 64, 64] (f32 in [0, 1]). */
  encode(panels: Tensor): Tensor {
    const [n, p, height, width] = panels.shape;
    if (panels.ndim !== 4 || height !== SMALL_SIZE || width !== SMALL_SIZE) {
      throw new ModelError(
        `encode: panels [${panels.shape.join(', ')}]: expected [problems, panels, 64, 64]`,
      );
    }
    const { concepts, conceptSize } = this.config;
    const images = panels.reshape([n * p, 1, SMALL_SIZE, SMALL_SIZE]);
    return atLeastSingle(this.encoder.forward(images)) // [N * P, M * d_z]
      .reshape([n, p, concepts, conceptSize])
      .permute([2, 0, 1, 3]) // [M, N, P, d_z]
      .contiguous();
  }

  /** Mean pixel values, f32 [N, P, 64, 64], of concepts [M, N, P, d_z]. */
  decode(concepts: Tensor): Tensor {
    const [m, n, p, size] = concepts.shape;
    const rows = concepts.permute([1, 2, 0, 3]).reshape([n * p, m * size]); // [N * P, M * d_z]
    return this.decoder.forward(rows).reshape([n, p, SMALL_SIZE, SMALL_SIZE]);
  }

  /**
   * What follows from concepts [M, N, 9, d_z] of the context [S, N, 9] (0 at missing panels) by the means:
   * p(r|z_C) [M, S, N, d_r], and predictions at every position [M, S, N, 9, d_z].
   */
  reason(
    concepts: Tensor,
    context: Tensor,
  ): { readonly parsed: Gaussian; readonly predicted: Tensor } {
    const parsed = this.ruleParser.forward(concepts, gatesOf(context));
    return { parsed, predicted: this.targetPredictor.forward(concepts, context, parsed.mean) };
  }

  // What the lab and the trainer ask of any system, with problems as the first axis.

  conceptsOf(panels: Tensor): Tensor {
    return this.encode(panels).permute([1, 2, 0, 3]); // [N, P, M, d_z]
  }

  predictConcepts(concepts: Tensor, context: Tensor): Tensor {
    const means = concepts.permute([2, 0, 1, 3]).contiguous(); // [M, N, 9, d_z]
    const { predicted } = this.reason(means, context.unsqueeze(0)); // [M, 1, N, 9, d_z]
    return predicted.squeeze(1).permute([1, 2, 0, 3]); // [N, 9, M, d_z]
  }

  paint(concepts: Tensor): Tensor {
    return this.decode(concepts.permute([2, 0, 1, 3]));
  }

  /** Means of q(r|z) of complete matrices, of p(r|z_C) if panels are missing. */
  override rulesOf(concepts: Tensor, context?: Tensor): Tensor {
    const { device, shape } = concepts;
    const open = context?.unsqueeze(0) ?? full([1, shape[0], MATRIX_PANELS], 1, { device }); // [1, N, 9]
    const means = concepts.permute([2, 0, 1, 3]).contiguous(); // [M, N, 9, d_z]
    return this.ruleParser.forward(means, gatesOf(open)).mean.squeeze(1).permute([1, 0, 2]); // [N, M, d_r]
  }

  /** Convolutions are faster with channels last on a GPU. */
  override place(device: Device): this {
    this.to({ device });
    if (device === 'cpu') return this;
    this.encoder.to({ memoryFormat: 'channelsLast' });
    this.decoder.to({ memoryFormat: 'channelsLast' });
    return this;
  }
}
