/**
 * CRAB in the structure of the authors' code, to measure and check ours against: a list of networks,
 * one for each concept, run in a loop; pair representations computed from concatenated pairs, once for
 * q(r|z) and once more for p(r|z_C). Written with the same binding and the same layers around it.
 */
import type { CrabModel, Noise, ObjectiveTerms, ProblemBatch } from '../../src/models/index.js';
import { contextOf } from '../../src/models/index.js';
import { cat, nn, stack, type Tensor } from '../../src/torch/index.js';
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

/** The authors' structure around the encoder and decoder of a model. */
export class ReferenceCrab extends nn.Module {
  readonly encoder: CrabModel['encoder'];
  readonly decoder: CrabModel['decoder'];
  readonly parsers: readonly ConceptRuleParser[];
  readonly predictors: readonly ConceptTargetPredictor[];

  constructor(
    readonly model: CrabModel,
    options: { generator: Generator },
  ) {
    super();
    const { config } = model;
    this.encoder = model.encoder;
    this.decoder = model.decoder;
    const concepts = Array.from({ length: config.concepts });
    this.parsers = concepts.map(() => new ConceptRuleParser(config, options));
    this.predictors = concepts.map(() => new ConceptTargetPredictor(config, options));
  }

  /** Everything but the model it shares its encoder and decoder with. */
  override stateFields(): Iterable<[string, unknown]> {
    return Object.entries(this).filter(([name]) => name !== 'model');
  }

  /** Its own tensors beside those of the batched model that must hold the same values. */
  correspondence(): { own: Tensor; batched: (model: CrabModel) => Tensor }[] {
    return this.parsers.flatMap((parser, m) => [
      ...parserWeights(parser, m),
      ...predictorWeights(this.predictors[m], m),
    ]);
  }

  /** The terms of the objective for one target set. */
  evaluate(batch: ProblemBatch, noise: Noise, sigmaX: number, sigmaZ: number): ObjectiveTerms {
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

  #reconstruction({ panels, targets }: ProblemBatch, z: Tensor, sigmaX: number): Tensor {
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

type Correspondence = ReturnType<ReferenceCrab['correspondence']>;

function bias(layer: nn.Linear | nn.Conv2d): Tensor {
  if (layer.bias === null) throw new Error('the layers of the reference have biases');
  return layer.bias;
}

function parserWeights(parser: ConceptRuleParser, m: number): Correspondence {
  const [first, hidden, out] = parser.pair;
  const { conceptSize } = parser.config;
  const half = (tensor: Tensor): Tensor => tensor.select(0, m).transpose(0, 1); // [in, out] → [out, in]
  const rest = [
    { layer: hidden, of: (model: CrabModel) => model.ruleParser.pairHidden },
    { layer: out, of: (model: CrabModel) => model.ruleParser.pairOut },
    ...parser.relation.map((layer, i) => ({
      layer,
      of: (model: CrabModel) => model.ruleParser.relation[i],
    })),
  ];
  const biasOf = (tensor: Tensor | null): Tensor => {
    if (tensor === null) throw new Error('the batched layers have biases');
    return tensor.select(0, m).squeeze(0);
  };
  return [
    {
      own: first.weight.narrow(1, 0, conceptSize),
      batched: (model) => half(model.ruleParser.pairFirst.weight),
    },
    {
      own: first.weight.narrow(1, conceptSize, conceptSize),
      batched: (model) => half(model.ruleParser.pairSecond.weight),
    },
    { own: bias(first), batched: (model) => biasOf(model.ruleParser.pairFirst.bias) },
    ...rest.flatMap(({ layer, of }) => [
      { own: layer.weight, batched: (model: CrabModel) => half(of(model).weight) },
      { own: bias(layer), batched: (model: CrabModel) => biasOf(of(model).bias) },
    ]),
  ];
}

function predictorWeights(predictor: ConceptTargetPredictor, m: number): Correspondence {
  return predictor.layers.flatMap((layer, i) => {
    const part = (tensor: Tensor): Tensor =>
      tensor.narrow(0, m * layer.outChannels, layer.outChannels);
    return [
      {
        own: layer.weight,
        batched: (model: CrabModel) => part(model.targetPredictor.layers[i].weight),
      },
      {
        own: bias(layer),
        batched: (model: CrabModel) => part(model.targetPredictor.layers[i].bias),
      },
    ];
  });
}
