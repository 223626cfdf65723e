/**
 * A residual step of two linear layers that normalises before it activates (SCL's R(n)):
 * x + W2 ReLU(LN(W1 ReLU(LN(x)))). Small first weights make it begin near the identity.
 */
import { init, nn, type Tensor } from '../../torch/index.js';

const FIRST_WEIGHTS = 0.005;

export class ResidualFeedforward extends nn.Module {
  readonly layers: nn.Sequential;

  constructor(width: number, options: nn.LayerOptions) {
    super();
    const linear = (): nn.Linear => {
      const layer = new nn.Linear(width, width, options);
      init.normal(layer.weight, 0, FIRST_WEIGHTS, options.generator);
      return layer;
    };
    this.layers = new nn.Sequential(
      ...[new nn.LayerNorm(width), new nn.ReLU(), linear()],
      ...[new nn.LayerNorm(width), new nn.ReLU(), linear()],
    );
  }

  /** Input and output [..., width]. */
  forward(x: Tensor): Tensor {
    return x.add(this.layers.forward(x));
  }
}
