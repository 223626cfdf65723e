/**
 * Layers of trained networks as plain numbers, ready to be written to a graph: read from the tensors of a
 * checkpoint without libtorch.
 */
import { SafetensorsFile } from '../../torch/index.js';
import { ModelError } from '../errors.js';
import type { Weight } from './graph.js';

/** Tensors of a model by their names in a checkpoint. */
export type WeightState = ReadonlyMap<string, Weight>;

/**
 * A linear layer or a convolution: the product of its weights, the first applied first, and a bias.
 * A second weight is there where the layer was factored; of a convolution it is 1x1.
 */
export interface Layer {
  readonly weights: readonly Weight[];
  readonly bias: Float32Array;
}

export const layer = (data: Float32Array, shape: readonly number[], bias: Float32Array): Layer => ({
  weights: [{ data, shape }],
  bias,
});

/** The same layer with its outputs multiplied. */
export const scaledLayer = ({ weights, bias }: Layer, by: number): Layer => ({
  weights: weights.map(({ data, shape }, i) => ({
    data: i === weights.length - 1 ? data.map((value) => value * by) : data,
    shape,
  })),
  bias: bias.map((value) => value * by),
});

/** Tensors of a safetensors file whose names begin with `prefix`, by the rest of their names. */
export function readWeightState(path: string, prefix = ''): WeightState {
  const file = SafetensorsFile.open(path);
  try {
    const state = new Map<string, Weight>();
    for (const name of file.names) {
      const { dtype, shape } = file.describe(name);
      if (!name.startsWith(prefix) || (dtype !== 'f32' && dtype !== 'f64')) continue;
      const { buffer } = file.readBytes(name);
      const data =
        dtype === 'f32' ? new Float32Array(buffer) : Float32Array.from(new Float64Array(buffer));
      state.set(name.slice(prefix.length), { data, shape });
    }
    return state;
  } finally {
    file.close();
  }
}

/** Takes tensors from a checkpoint; each must have the shape that the configuration says. */
export class StateReader {
  constructor(readonly state: WeightState) {
    if (state.size === 0) throw new ModelError('export: there are no weights to write');
  }

  take(name: string, shape: readonly number[]): Float32Array {
    const found = this.state.get(name);
    if (found === undefined) throw new ModelError(`the checkpoint has no tensor ${name}`);
    if (found.shape.length !== shape.length || shape.some((size, i) => found.shape[i] !== size)) {
      throw new ModelError(
        `${name} is [${found.shape.join(', ')}] in the checkpoint, [${shape.join(', ')}] by its configuration`,
      );
    }
    if (!found.data.every(Number.isFinite)) {
      throw new ModelError(`${name} holds values that are not finite`);
    }
    return found.data;
  }

  /** A linear layer, weight [out, in]. */
  linear(name: string, inputs: number, outputs: number): Layer {
    const shape = [outputs, inputs];
    return layer(this.take(`${name}.weight`, shape), shape, this.take(`${name}.bias`, [outputs]));
  }
}

/** [rows, columns] to [columns, rows]. */
export function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) out[j * rows + i] = data[i * columns + j];
  }
  return out;
}
