/**
 * A graph of layers that may be factored. `probed` makes extra outputs of pre-activations, from which
 * layers are factored (compact.ts).
 */
import { GraphBuilder, type Value, type Weight, type WeightFormat } from './graph.js';
import type { Layer } from './layers.js';

export interface GraphOptions {
  readonly format: WeightFormat;
  /** Names of layers whose pre-activations become outputs as well. */
  readonly probed?: ReadonlySet<string>;
}

export class NetworkGraph extends GraphBuilder {
  readonly #probed: ReadonlySet<string>;
  readonly #found: [string, Value][] = [];

  constructor(name: string, { format, probed = new Set() }: GraphOptions) {
    super(name, format);
    this.#probed = probed;
  }

  probe(name: string, value: Value): Value {
    if (this.#probed.has(name)) this.#found.push([name, value]);
    return value;
  }

  /** A linear layer, factored or not: x [rows, in] to [rows, out]. */
  layer(
    name: string,
    x: Value,
    { weights, bias }: Layer,
    { withBias = true, fineOuter = false } = {},
  ): Value {
    let y = x;
    weights.forEach((weight, i) => {
      const last = i === weights.length - 1;
      // Of the directions that it puts together the first are far larger than the last ones, which tell
      // panels apart, and rounded to one byte their errors would hide these.
      const isFine = fineOuter && last && i > 0 && this.format === 'int8';
      const added = last && withBias ? bias : null;
      y = this.linear(last ? name : `${name}.inner`, y, weight, added, isFine ? 'f16' : undefined);
    });
    return this.probe(name, y);
  }

  /** A convolution by 4x4 of stride 2, factored or not. */
  convolution(name: string, x: Value, { weights, bias }: Layer): Value {
    let y = x;
    weights.forEach((weight, i) => {
      const last = i === weights.length - 1;
      y = this.#convolve(last ? name : `${name}.inner`, y, weight, last ? bias : null);
    });
    return this.probe(name, y);
  }

  #convolve(name: string, x: Value, weight: Weight, bias: Float32Array | null): Value {
    const [out, , kernel] = weight.shape;
    const operands = [x, this.weight(`${name}.weight`, weight)];
    if (bias !== null) operands.push(this.constant(`${name}.bias`, bias, [out]));
    const halves = kernel === 4;
    const side = Number(x.shape[2]) / (halves ? 2 : 1);
    return this.node('Conv', name, operands, [x.shape[0], out, side, side], {
      kernel_shape: [kernel, kernel],
      strides: halves ? [2, 2] : [1, 1],
      pads: halves ? [1, 1, 1, 1] : [0, 0, 0, 0],
    });
  }

  finish(documentation: string): Uint8Array {
    for (const [name, value] of this.#found) this.output(`probe:${name}`, value);
    return this.encode(documentation);
  }
}
