/** The optimiser that a configuration names. */
import type { OptimizerConfig } from '../../models/index.js';
import { optim, type Tensor } from '../../torch/index.js';

/** Momentum of stored runs by SGD that name none. */
const SGD_MOMENTUM = 0.9;

/**
 * An optimiser of these parameters; the stepper sets its learning rate before each step. A configuration
 * without weight decay or momentum leaves them to the library (AdamW decays by 0.01), but for SGD's momentum.
 *
 * @param capturable whether its steps may be captured as CUDA graphs
 */
export function makeOptimizer(
  { algorithm, momentum, weightDecay }: OptimizerConfig,
  parameters: Iterable<Tensor>,
  capturable: boolean,
): optim.Optimizer {
  const options = { learningRate: 0, capturable, weightDecay };
  switch (algorithm) {
    case 'rmsprop':
      return new optim.RMSprop(parameters, { ...options, momentum });
    case 'adam':
      return new optim.Adam(parameters, options);
    case 'adamw':
      return new optim.AdamW(parameters, options);
    case 'sgd':
      return new optim.SGD(parameters, { ...options, momentum: momentum ?? SGD_MOMENTUM });
  }
}
