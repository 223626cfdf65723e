/** Random numbers from explicit generators: the same seed gives the same numbers, and a state can be kept. */
import { guarded, wrap } from './dispatch.js';
import { Holder, tensorHandle } from './handle.js';
import { native } from './native.js';
import type { GeneratorHandle } from './native.js';
import './tensor.js';
import type { Tensor } from './tensor.js';
import type { Device } from './types.js';

export class Generator extends Holder<GeneratorHandle> {
  readonly device: Device;

  /** On a CUDA device, a generator can be used inside a captured graph (see CudaGraph). */
  constructor(device: Device, seed: number | bigint) {
    super(guarded('Generator', (addon) => addon.createGenerator(device, seed)));
    this.device = native().generatorDevice(this.handleFor('Generator')) as Device;
  }

  /** Starts again from a seed. */
  seed(seed: number | bigint): this {
    guarded('Generator.seed', (addon) => addon.generatorSetSeed(this.handleFor('Generator'), seed));
    return this;
  }

  /** Everything that decides the numbers to come: a u8 tensor on the CPU. */
  getState(): Tensor {
    return wrap(
      guarded('Generator.getState', (addon) => addon.generatorState(this.handleFor('Generator'))),
    );
  }

  setState(state: Tensor): this {
    guarded('Generator.setState', (addon) =>
      addon.generatorSetState(
        this.handleFor('Generator'),
        tensorHandle('Generator.setState', state),
      ),
    );
    return this;
  }
}

/** Seeds the default generators, for operations that take none. */
export function manualSeed(seed: number | bigint): void {
  guarded('manualSeed', (addon) => addon.manualSeed(seed));
}
