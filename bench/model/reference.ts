/**
 * CRAB in the structure of the authors' code, to measure and check ours against: a list of networks,
 * one for each concept, run in a loop; pair representations computed from concatenated pairs, once for
 * q(r|z) and once more for p(r|z_C). Written with the same binding and the same layers around it.
 */
import type { CrabModel, Noise, ObjectiveTerms, TargetedBatch } from '../../src/models/index.js';
import { contextOf } from '../../src/models/index.js';
import { cat, leakyRelu, nn, stack, type Tensor } from '../../src/torch/index.js';
import type { Generator } from '../../src/torch/index.js';
import type { NetworkConfig } from '../../src/models/index.js';
import { fixedLogLikelihood, gaussianKl } from '../../src/models/crab/distributions.js';

const PANELS = 9;

interface Parsed {
  readonly mean: Tensor;
  readonly deviation: Tensor;
}

class Relu extends nn.Module {
  forward(x: Tensor): Tensor {
    return x.relu();
  }
}

/** The encoder as a plain list of layers; every convolution has a bias, though a BatchNorm follows. */
class PlainEncoder extends nn.Module {
  readonly convs: readonly nn.Conv2d[];
  readonly norms: readonly nn.BatchNorm2d[];
  readonly head: nn.Linear;
  readonly relu = new Relu();

  constructor(
    { encoder, concepts, conceptSize }: NetworkConfig,
    options: { generator: Generator },
  ) {
    super();
    this.convs = encoder.map((out, i) => {
      const geometry = i < encoder.length - 1 ? { stride: 2, padding: 1 } : {};
      return new nn.Conv2d(i === 0 ? 1 : encoder[i - 1], out, 4, { ...options, ...geometry });
    });
    this.norms = encoder.map((out) => new nn.BatchNorm2d(out));
    this.head = new nn.Linear(encoder[encoder.length - 1], concepts * conceptSize, options);
  }

  /** [B, 1, 64, 64] to [B, M * d_z]. */
  forward(images: Tensor): Tensor {
    let x = images;
    this.convs.forEach((conv, i) => {
      x = this.relu.forward(this.norms[i].forward(conv.forward(x)));
    });
    return this.head.forward(x.flatten(1));
  }
}

/** The decoder as a plain list of layers, biases before the norms too. */
class PlainDecoder extends nn.Module {
  readonly convs: readonly nn.ConvTranspose2d[];
  readonly norms: readonly nn.BatchNorm2d[];
  readonly slope: number;

  constructor(
    { decoder, decoderSlope, concepts, conceptSize }: NetworkConfig,
    options: { generator: Generator },
  ) {
    super();
    this.slope = decoderSlope;
    const widths = [concepts * conceptSize, ...decoder, 1];
    this.convs = widths.slice(1).map((out, i) => {
      const geometry = i < 2 ? {} : { stride: 2, padding: 1 };
      return new nn.ConvTranspose2d(widths[i], out, i === 0 ? 1 : 4, { ...options, ...geometry });
    });
    this.norms = decoder.map((out) => new nn.BatchNorm2d(out));
  }

  /** [B, M * d_z] to [B, 1, 64, 64]. */
  forward(concepts: Tensor): Tensor {
    let x = concepts.unsqueeze(-1).unsqueeze(-1); // [B, M * d_z, 1, 1]
    this.norms.forEach((norm, i) => {
      x = leakyRelu(norm.forward(this.convs[i].forward(x)), this.slope);
    });
    return this.convs[this.norms.length].forward(x).sigmoid();
  }
}

/** The rule parser of one concept. */
class ConceptRuleParser extends nn.Module {
  readonly pair: readonly nn.Linear[];
  readonly relation: readonly nn.Linear[];
  readonly relu = new Relu();

  constructor(
    readonly config: NetworkConfig,
    options: { generator: Generator },
  ) {
    super();
    const { conceptSize, pairHidden, pairFeatures, relationHidden, ruleSize } = config;
    const chain = (widths: number[]): nn.Linear[] =>
      widths.slice(1).map((width, i) => new nn.Linear(widths[i], width, options));
    this.pair = chain([2 * conceptSize, ...pairHidden, pairFeatures]);
    this.relation = chain([PANELS * PANELS * pairFeatures, ...relationHidden, 2 * ruleSize]);
  }

  /** Concepts [N, 9, d_z], gates [N, 9, 9, 1] or null for all open. */
  forward(concepts: Tensor, gates: Tensor | null): Parsed {
    const [n, panels, size] = concepts.shape;
    const shape = [n, panels, panels, size];
    let o = cat([concepts.unsqueeze(2).expand(shape), concepts.unsqueeze(1).expand(shape)], 3);
    this.pair.forEach((layer, i) => {
      o = layer.forward(o);
      if (i < this.pair.length - 1) o = this.relu.forward(o);
    });
    if (gates !== null) o = o.mul(gates);
    let x = o.mul(this.config.pairScale).reshape([n, -1]);
    this.relation.forEach((layer, i) => {
      x = layer.forward(x);
      if (i < this.relation.length - 1) x = this.relu.forward(x);
    });
    const { ruleSize, ruleDeviationMax } = this.config;
    const raw = x.narrow(1, ruleSize, ruleSize);
    return { mean: x.narrow(1, 0, ruleSize), deviation: raw.sigmoid().mul(ruleDeviationMax ?? 1) };
  }
}

/** The target predictor of one concept. */
class ConceptTargetPredictor extends nn.Module {
  readonly layers: readonly nn.Conv2d[];

  constructor(config: NetworkConfig, options: { generator: Generator }) {
    super();
    const { conceptSize, ruleSize, targetHidden } = config;
    const widths = [conceptSize + ruleSize, ...targetHidden, conceptSize];
    this.layers = widths
      .slice(1)
      .map((width, i) => new nn.Conv2d(widths[i], width, 3, { ...options, padding: 1 }));
  }

  /** [N, 9, d_z + d_r] to [N, 9, d_z]. */
  forward(matrix: Tensor): Tensor {
    const [n, panels, size] = matrix.shape;
    let x = matrix.reshape([n, 3, 3, size]).permute([0, 3, 1, 2]).contiguous(); // [N, C, 3, 3]
    this.layers.forEach((layer, i) => {
      x = layer.forward(x);
      if (i < this.layers.length - 1) x = x.relu();
    });
    return x.permute([0, 2, 3, 1]).reshape([n, panels, -1]);
  }
}

export interface ReferenceOptions {
  readonly generator: Generator;
  /** A plain decoder of its own, as the authors have, instead of the model's: to measure. */
  readonly plainDecoder?: boolean;
}

/** The authors' structure, around the decoder of a model unless told otherwise. */
export class ReferenceCrab extends nn.Module {
  readonly encoder: PlainEncoder;
  readonly decoder: CrabModel['decoder'] | PlainDecoder;
  readonly parsers: readonly ConceptRuleParser[];
  readonly predictors: readonly ConceptTargetPredictor[];

  constructor(
    readonly model: CrabModel,
    { generator, plainDecoder = false }: ReferenceOptions,
  ) {
    super();
    const { config } = model;
    const options = { generator };
    this.encoder = new PlainEncoder(config, options);
    this.decoder = plainDecoder ? new PlainDecoder(config, options) : model.decoder;
    const concepts = Array.from({ length: config.concepts });
    this.parsers = concepts.map(() => new ConceptRuleParser(config, options));
    this.predictors = concepts.map(() => new ConceptTargetPredictor(config, options));
  }

  /** Everything but the model it is built after. */
  override stateFields(): Iterable<[string, unknown]> {
    return Object.entries(this).filter(([name]) => name !== 'model');
  }

  /**
   * Its parameters beside the parts of the batched model's that stand for the same: what `of` gives for
   * them, the values or for instance the gradients.
   */
  correspondence(of: Of = (parameter) => parameter.detach()): Pairing[] {
    const { model } = this;
    return [
      ...encoderPairings(this.encoder, model, of),
      ...this.parsers.flatMap((parser, m) => parserPairings(parser, model, m, of)),
      ...this.predictors.flatMap((predictor, m) => predictorPairings(predictor, model, m, of)),
    ];
  }

  /** Takes over the weights of the batched model. */
  copyWeights(): void {
    for (const { own, batched } of this.correspondence()) own.copy_(batched);
  }

  /** The terms of the objective for one target set. */
  evaluate(batch: TargetedBatch, noise: Noise, sigmaX: number, sigmaZ: number): ObjectiveTerms {
    const { concepts: m, conceptSize } = this.model.config;
    const context = contextOf(batch.targets).squeeze(0); // [N, 9]
    const [n] = context.shape;
    const images = batch.panels.reshape([n * PANELS, 1, 64, 64]);
    const means = this.encoder.forward(images).reshape([n, PANELS, m, conceptSize]);
    const z = means.add(noise.concepts.permute([1, 2, 0, 3]).mul(sigmaZ)); // [N, 9, M, d_z]
    const gates = context.unsqueeze(2).mul(context.unsqueeze(1)).unsqueeze(3); // [N, 9, 9, 1]
    const posteriors: Parsed[] = [];
    const conditionals: Parsed[] = [];
    const predicted: Tensor[] = [];
    for (let i = 0; i < m; i++) {
      const own = z.select(2, i).contiguous(); // [N, 9, d_z]
      const known = own.mul(context.unsqueeze(2));
      const posterior = this.parsers[i].forward(own, null);
      conditionals.push(this.parsers[i].forward(known, gates));
      const rule = posterior.mean.add(posterior.deviation.mul(noise.rules.select(0, i)));
      const beside = rule.unsqueeze(1).expand([n, PANELS, rule.shape[1]]);
      predicted.push(this.predictors[i].forward(cat([known, beside], 2)));
      posteriors.push(posterior);
    }
    const together = (parts: Parsed[]): Parsed => ({
      mean: stack(parts.map(({ mean }) => mean)),
      deviation: stack(parts.map(({ deviation }) => deviation)),
    });
    const errors = means.sub(stack(predicted, 2)).square().sum([2, 3]); // [N, 9]
    return {
      reconstruction: this.#reconstruction(batch, z, sigmaX),
      ruleRegularizer: gaussianKl(together(posteriors), together(conditionals)).sum().div(n),
      targetRegularizer: errors
        .mul(context.rsub(1))
        .sum()
        .div(2 * sigmaZ * sigmaZ * n),
      rulePrior: null,
    };
  }

  #reconstruction({ panels, targets }: TargetedBatch, z: Tensor, sigmaX: number): Tensor {
    const index = targets.index.select(0, 0); // [N, T]
    const [n, places] = index.shape;
    const [, , m, size] = z.shape;
    const wide = z.flatten(2); // [N, 9, M * d_z]
    const chosen = wide.gather(1, index.unsqueeze(2).expand([n, places, m * size]));
    const images = panels.gather(1, index.reshape([n, places, 1, 1]).expand([n, places, 64, 64]));
    const drawn = this.decoder.forward(chosen.flatten(0, 1)).reshape([n, places, 64, 64]);
    const logs = fixedLogLikelihood(images, drawn, sigmaX, 2); // [N, T]
    return logs.mul(targets.weight.select(0, 0)).sum().div(n);
  }
}

type Of = (parameter: Tensor) => Tensor;

interface Pairing {
  readonly own: Tensor;
  readonly batched: Tensor;
}

function bias(layer: { readonly bias: Tensor | null }): Tensor {
  if (layer.bias === null) throw new Error('the layer has no bias');
  return layer.bias;
}

/** The batched model's encoder has no biases before its norms, where they change nothing. */
function encoderPairings(encoder: PlainEncoder, { encoder: other }: CrabModel, of: Of): Pairing[] {
  return [
    ...encoder.convs.map((conv, i) => ({
      own: of(conv.weight),
      batched: of(other.stages[i].conv.weight),
    })),
    { own: of(encoder.head.weight), batched: of(other.head.weight) },
    { own: of(bias(encoder.head)), batched: of(bias(other.head)) },
  ];
}

function parserPairings(
  parser: ConceptRuleParser,
  { ruleParser }: CrabModel,
  m: number,
  of: Of,
): Pairing[] {
  const { conceptSize } = parser.config;
  const turned = (weight: Tensor): Tensor => of(weight).select(0, m).transpose(0, 1); // [out, in]
  const biasOf = (layer: { readonly bias: Tensor | null }): Tensor =>
    of(bias(layer)).select(0, m).squeeze(0);
  const [first, ...deeper] = [...parser.pair, ...parser.relation];
  const { pairFirst, pairSecond, pairHidden, pairOut, relation } = ruleParser;
  const weight = of(first.weight); // [out, 2 d_z]
  return [
    { own: weight.narrow(1, 0, conceptSize), batched: turned(pairFirst.weight) },
    { own: weight.narrow(1, conceptSize, conceptSize), batched: turned(pairSecond.weight) },
    { own: of(bias(first)), batched: biasOf(pairFirst) },
    ...[pairHidden, pairOut, ...relation].flatMap((layer, i) => [
      { own: of(deeper[i].weight), batched: turned(layer.weight) },
      { own: of(bias(deeper[i])), batched: biasOf(layer) },
    ]),
  ];
}

function predictorPairings(
  predictor: ConceptTargetPredictor,
  { targetPredictor }: CrabModel,
  m: number,
  of: Of,
): Pairing[] {
  return predictor.layers.flatMap((layer, i) => {
    const batched = targetPredictor.layers[i];
    const part = (tensor: Tensor): Tensor =>
      of(tensor).narrow(0, m * layer.outChannels, layer.outChannels);
    return [
      { own: of(layer.weight), batched: part(batched.weight) },
      { own: of(bias(layer)), batched: part(bias(batched)) },
    ];
  });
}
