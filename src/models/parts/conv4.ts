/**
 * Four convolutions 3x3 with stride 2, each followed by batch normalisation and ReLU: the small picture
 * network that many published solvers begin with. Without padding, sides go 80, 39, 19, 9, 4 or 160, 79, 39,
 * 19, 9.
 */
import { nn, type Tensor } from '../../torch/index.js';

export class Conv4 extends nn.Module {
  readonly layers: nn.Sequential;

  constructor(inputs: number, channels: number, options: nn.LayerOptions) {
    super();
    const block = (from: number): nn.Layer[] => [
      new nn.Conv2d(from, channels, 3, { ...options, stride: 2 }),
      new nn.BatchNorm2d(channels, options),
      new nn.ReLU(),
    ];
    this.layers = new nn.Sequential(
      ...[inputs, channels, channels, channels].flatMap((from) => block(from)),
    );
  }

  /** Pictures [N, inputs, S, S]; features [N, channels, s, s] with s = 4 if S = 80, 9 if S = 160. */
  forward(x: Tensor): Tensor {
    return this.layers.forward(x);
  }
}
