/**
 * Long short-term memory (Hochreiter and Schmidhuber, 1997), batch first, with PyTorch's
 * parameters. Dropout between layers is left to the caller: libtorch's takes no generator.
 */
import { zeros } from '../creation.js';
import { aten } from '../dispatch.js';
import { uniform } from '../init.js';
import type { Tensor } from '../tensor.js';
import { drawn, requireGenerator } from './drawing.js';
import type { LayerOptions } from './drawing.js';
import { Module, parameter } from './module.js';
import type { Parameter } from './module.js';

const lstm = aten('lstm.input');

export interface LSTMOptions extends LayerOptions {
  readonly numLayers?: number;
  readonly bidirectional?: boolean;
  readonly bias?: boolean;
}

/** Hidden and cell state, each [layers * directions, N, hiddenSize]. */
export interface LSTMState {
  readonly hidden: Tensor;
  readonly cell: Tensor;
}

/** Input [N, L, inputSize], output [N, L, directions * hiddenSize]. */
export class LSTM extends Module {
  readonly numLayers: number;
  readonly bidirectional: boolean;
  readonly hasBias: boolean;
  readonly #parameters: ReadonlyMap<string, Parameter>;

  constructor(
    readonly inputSize: number,
    readonly hiddenSize: number,
    options: LSTMOptions,
  ) {
    super();
    requireGenerator('LSTM', options);
    this.numLayers = options.numLayers ?? 1;
    this.bidirectional = options.bidirectional ?? false;
    this.hasBias = options.bias ?? true;
    const bound = 1 / Math.sqrt(hiddenSize);
    this.#parameters = new Map(
      this.#layout().map(([name, shape]) => [
        name,
        parameter(drawn(shape, options, (t, g) => uniform(t, -bound, bound, g))),
      ]),
    );
  }

  /** Names and shapes in the order of PyTorch and of libtorch's own kernel. */
  #layout(): [string, number[]][] {
    const directions = this.bidirectional ? ['', '_reverse'] : [''];
    const gates = 4 * this.hiddenSize;
    const layout: [string, number[]][] = [];
    for (let layer = 0; layer < this.numLayers; layer += 1) {
      const input = layer === 0 ? this.inputSize : directions.length * this.hiddenSize;
      for (const suffix of directions) {
        layout.push([`weight_ih_l${layer}${suffix}`, [gates, input]]);
        layout.push([`weight_hh_l${layer}${suffix}`, [gates, this.hiddenSize]]);
        if (!this.hasBias) continue;
        layout.push([`bias_ih_l${layer}${suffix}`, [gates]]);
        layout.push([`bias_hh_l${layer}${suffix}`, [gates]]);
      }
    }
    return layout;
  }

  override stateFields(): Iterable<[string, unknown]> {
    return this.#parameters;
  }

  /** The output alone. */
  forward(x: Tensor, state?: LSTMState): Tensor {
    return this.run(x, state).output;
  }

  /** The output and the state after the last step; the state before the first is zero by default. */
  run(x: Tensor, state = this.#start(x)): LSTMState & { readonly output: Tensor } {
    const weights = [...this.#parameters.values()];
    const flags = [this.training, this.bidirectional, true]; // batch first
    const [output, hidden, cell] = lstm.tensors(
      ...[x, [state.hidden, state.cell], weights, this.hasBias, this.numLayers, 0, ...flags],
    );
    return { output, hidden, cell };
  }

  #start(x: Tensor): LSTMState {
    const shape = [this.numLayers * (this.bidirectional ? 2 : 1), x.shape[0], this.hiddenSize];
    const zero = zeros(shape, { dtype: x.dtype, device: x.device });
    return { hidden: zero, cell: zero };
  }
}
