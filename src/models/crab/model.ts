/**
 * CRAB as a whole: the networks and how concepts are laid out between them. Concepts are [M, N, P, d_z]
 * (concept, problem, panel, value) so that each concept's networks read their own slice. Everything
 * random and every weighting is in objective.ts and generate.ts.
 */
import { atLeastSingle, nn, type Device, type Generator, type Tensor } from '../../torch/index.js';
import { ModelError } from '../errors.js';
import type { NetworkConfig } from './config.js';
import { Decoder, Encoder, IMAGE_SIZE } from './networks.js';
import { RuleParser } from './rule-parser.js';
import { TargetPredictor } from './target-predictor.js';

export interface CrabModelOptions {
  /** The source of the first weights. */
  readonly generator: Generator;
  readonly device?: Device;
}

export class CrabModel extends nn.Module {
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
    if (panels.ndim !== 4 || height !== IMAGE_SIZE || width !== IMAGE_SIZE) {
      throw new ModelError(
        `encode: panels [${panels.shape.join(', ')}]: expected [problems, panels, 64, 64]`,
      );
    }
    const { concepts, conceptSize } = this.config;
    const images = panels.reshape([n * p, 1, IMAGE_SIZE, IMAGE_SIZE]);
    return atLeastSingle(this.encoder.forward(images)) // [N * P, M * d_z]
      .reshape([n, p, concepts, conceptSize])
      .permute([2, 0, 1, 3]) // [M, N, P, d_z]
      .contiguous();
  }

  /** Mean pixel values, f32 [N, P, 64, 64], of concepts [M, N, P, d_z]. */
  decode(concepts: Tensor): Tensor {
    const [m, n, p, size] = concepts.shape;
    const rows = concepts.permute([1, 2, 0, 3]).reshape([n * p, m * size]); // [N * P, M * d_z]
    return this.decoder.forward(rows).reshape([n, p, IMAGE_SIZE, IMAGE_SIZE]);
  }
}
