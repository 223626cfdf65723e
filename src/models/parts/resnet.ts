/**
 * Residual networks (He et al., "Deep residual learning for image recognition", CVPR 2016), without the
 * classifier and without weights learned elsewhere, and the parts they are made of.
 */
import { init, maxPool2d, nn, scope, type Tensor } from '../../torch/index.js';
import { normRelu } from './mlp.js';

/** A convolution without bias, padded to keep the side (halved by stride 2); He's first weights by fan-out. */
export function plainConv(
  from: number,
  to: number,
  kernel: number,
  options: nn.LayerOptions,
  stride = 1,
): nn.Conv2d {
  const padding = (kernel - 1) / 2;
  const conv = new nn.Conv2d(from, to, kernel, { ...options, stride, padding, bias: false });
  init.kaimingNormal(conv.weight, options.generator, { mode: 'fanOut', nonlinearity: 'relu' });
  return conv;
}

/** The first layers: pictures [N, inputs, S, S] to maps [N, channels, S / 4, S / 4]. */
export class Stem extends nn.Module {
  readonly conv: nn.Conv2d;
  readonly norm: nn.BatchNorm2d;

  /** @param first weights: He's by fan-out, or the library's default ones */
  constructor(
    inputs: number,
    channels: number,
    options: nn.LayerOptions,
    first: 'he' | 'default' = 'he',
  ) {
    super();
    this.conv =
      first === 'he'
        ? plainConv(inputs, channels, 7, options, 2)
        : new nn.Conv2d(inputs, channels, 7, { ...options, stride: 2, padding: 3, bias: false });
    this.norm = new nn.BatchNorm2d(channels, { leakyRelu: 0 });
  }

  forward(x: Tensor): Tensor {
    const maps = nn.convNormRelu(x, this);
    return maxPool2d(maps, 3, { stride: 2, padding: 1 });
  }
}

/** Layers and a normalisation behind them, which adds other maps and applies a ReLU in the same pass. */
class LayersOnto extends nn.Sequential {
  readonly #before: readonly nn.Layer[];
  readonly #norm: nn.BatchNorm2d;

  constructor(before: readonly nn.Layer[], norm: nn.BatchNorm2d) {
    super(...before, norm);
    [this.#before, this.#norm] = [before, norm];
  }

  /** relu(what the layers make of x + others). */
  forwardOnto(x: Tensor, others: Tensor): Tensor {
    const maps = this.#before.reduce((value, layer) => layer.forward(value), x);
    return this.#norm.forwardAddRelu(maps, others);
  }
}

/** Adds what some layers make of maps to the maps themselves. */
abstract class Residual extends nn.Module {
  abstract readonly layers: LayersOnto;
  readonly shortcut: nn.Sequential | null;

  constructor(from: number, to: number, stride: number, options: nn.LayerOptions) {
    super();
    this.shortcut =
      stride === 1 && from === to
        ? null
        : new nn.Sequential(plainConv(from, to, 1, options, stride), new nn.BatchNorm2d(to));
  }

  /** Maps [N, from, s, s]; [N, to, s / stride, s / stride]. */
  forward(x: Tensor): Tensor {
    return scope(() => this.layers.forwardOnto(x, this.shortcut?.forward(x) ?? x));
  }
}

/** Two convolutions 3x3: the block of ResNet-18. */
export class ResidualBlock extends Residual {
  readonly layers: LayersOnto;

  constructor(from: number, to: number, stride: number, options: nn.LayerOptions) {
    super(from, to, stride, options);
    const convolutions = [
      plainConv(from, to, 3, options, stride),
      ...normRelu(to),
      plainConv(to, to, 3, options),
    ];
    this.layers = new LayersOnto(convolutions, new nn.BatchNorm2d(to));
  }
}

/** A convolution 3x3 on a quarter of the channels between two 1x1: the block of ResNet-50. */
class Bottleneck extends Residual {
  readonly layers: LayersOnto;

  constructor(from: number, to: number, stride: number, options: nn.LayerOptions) {
    super(from, to, stride, options);
    const inner = to / 4;
    const convolutions = [
      plainConv(from, inner, 1, options),
      ...normRelu(inner),
      plainConv(inner, inner, 3, options, stride),
      ...normRelu(inner),
      plainConv(inner, to, 1, options),
    ];
    this.layers = new LayersOnto(convolutions, new nn.BatchNorm2d(to));
  }
}

type Depth = 18 | 50;

/** For each depth: its block, blocks of its four stages, and how many times wider its maps are. */
const FORMS = {
  18: { block: ResidualBlock, stages: [2, 2, 2, 2], widening: 1 },
  50: { block: Bottleneck, stages: [3, 4, 6, 3], widening: 4 },
} as const;

export class ResNet extends nn.Module {
  readonly layers: nn.Sequential;
  /** Width of the features. */
  readonly width: number;

  /** @param channels of the first stage, 64 in the paper; each later stage has twice as many */
  constructor(depth: Depth, inputs: number, channels: number, options: nn.LayerOptions) {
    super();
    const { block, stages, widening } = FORMS[depth];
    const blocks: nn.Layer[] = [];
    let from = channels;
    stages.forEach((count, stage) => {
      const to = channels * 2 ** stage * widening;
      for (let n = 0; n < count; n++) {
        blocks.push(new block(from, to, n === 0 && stage > 0 ? 2 : 1, options));
        from = to;
      }
    });
    this.width = from;
    // As in the solvers' released codes: they replace the first convolution to take their own number of
    // pictures, and leave its weights as the library draws them.
    const stem = new Stem(inputs, channels, options, 'default');
    this.layers = new nn.Sequential(stem, ...blocks);
  }

  /** Pictures [N, inputs, S, S]; features [N, width], averaged over the picture. */
  forward(x: Tensor): Tensor {
    return this.layers.forward(x).mean([2, 3]);
  }
}
