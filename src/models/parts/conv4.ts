/**
 * Four convolutions 3x3 with stride 2, each followed by batch normalisation and ReLU: the small picture
 * network that many published solvers begin with. Without padding, sides go 80, 39, 19, 9, 4 or 160, 79, 39,
 * 19, 9.
 */
import { nn, type Tensor } from '../../torch/index.js';

const LAST_SIDES = { 80: 4, 160: 9 } as const;

export class Conv4 extends nn.Module {
  readonly layers: nn.ConvStages;
  /** Values of the features of a picture. */
  readonly width: number;

  constructor(
    inputs: number,
    channels: number,
    options: nn.LayerOptions,
    imageSize: keyof typeof LAST_SIDES = 80,
  ) {
    super();
    this.width = channels * LAST_SIDES[imageSize] ** 2;
    const widths = [inputs, channels, channels, channels, channels];
    this.layers = new nn.ConvStages(widths, 3, { ...options, stride: 2 });
  }

  /** Pictures [N, inputs, S, S]; features [N, channels, s, s], `width` values each. */
  forward(x: Tensor): Tensor {
    return this.layers.forward(x);
  }
}
