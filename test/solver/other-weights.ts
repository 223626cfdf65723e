/**
 * The networks of a published bundle, whose weights are stored as int8, with weights of other forms:
 * as f32, as f16, and as f32 weights drawn at random from all those that int8 would round to the stored
 * ones. Weights as they were before rounding are among the last, so a model drawn from them differs
 * from the published one as much as the trained one did.
 */
import { Random } from '../../src/matrix/index.js';
import { toHalf } from '../../src/models/onnx/half.js';
import {
  DATA_TYPE,
  decodeModel,
  encodeModel,
  type NodeMessage,
  type TensorMessage,
} from '../../src/models/onnx/schema.js';
import type { Bundle, BundleFileName } from '../../src/solver/node.js';
import { memoryBundle, Solver } from '../../src/solver/node.js';

export type OtherWeights = 'f32' | 'f16' | { readonly beforeRounding: number };

const floats = ({ rawData }: TensorMessage): Float32Array =>
  new Float32Array(Uint8Array.from(rawData).buffer);

/** Values of an int8 tensor with a scale for each channel of one axis, and of what rounds to them. */
function dequantized(
  { dims, rawData }: TensorMessage,
  scales: Float32Array,
  axis: number,
  offset: () => number,
): Float32Array {
  const inner = dims.slice(axis + 1).reduce((product, size) => product * size, 1);
  const steps = new Int8Array(Uint8Array.from(rawData).buffer);
  return Float32Array.from(steps, (step, i) => {
    const channel = Math.floor(i / inner) % dims[axis];
    return (step + offset()) * scales[channel];
  });
}

/** A network with its int8 weights in another form. */
export function withOtherWeights(bytes: Uint8Array, form: OtherWeights): Uint8Array {
  const model = decodeModel(bytes);
  const { node, initializer } = model.graph;
  const stored = new Map(initializer.map((tensor) => [tensor.name, tensor]));
  const random = new Random(typeof form === 'object' ? form.beforeRounding : 0);
  const offset = (): number => (typeof form === 'object' ? random.next() / 2 ** 32 - 0.5 : 0);
  const nodes = node.map((each): NodeMessage | null => {
    const [values, scales] = each.input.map((name) => stored.get(name));
    if (each.opType !== 'DequantizeLinear' || values === undefined || scales === undefined) {
      return each;
    }
    const axis = each.attribute.find(({ name }) => name === 'axis')?.i ?? 0;
    const weights = dequantized(values, floats(scales), axis, offset);
    stored.delete(values.name);
    stored.delete(scales.name);
    const [output] = each.output;
    const isHalf = form === 'f16';
    const name = isHalf ? `${output}.f16` : output;
    const data = isHalf ? toHalf(weights) : weights;
    const dataType = isHalf ? DATA_TYPE.f16 : DATA_TYPE.f32;
    stored.set(name, { name, dims: values.dims, dataType, rawData: new Uint8Array(data.buffer) });
    if (!isHalf) return null;
    const to = { name: 'to', type: 2, i: DATA_TYPE.f32 };
    return { ...each, opType: 'Cast', input: [name], attribute: [to] };
  });
  const kept = nodes.filter((each) => each !== null);
  const known = new Set(kept.flatMap(({ output }) => output));
  const valueInfo = model.graph.valueInfo.filter(({ name }) => known.has(name));
  const graph = { ...model.graph, node: kept, initializer: [...stored.values()], valueInfo };
  return encodeModel({ ...model, graph });
}

/** A solver of a bundle with the weights of all its networks in another form. */
export async function otherSolver(
  { manifest, files }: Bundle,
  form: OtherWeights,
): Promise<Solver> {
  const changed = new Map<BundleFileName, Uint8Array>(
    [...files].map(([name, bytes]) => [
      name,
      name.endsWith('.onnx') ? withOtherWeights(bytes, form) : bytes,
    ]),
  );
  const weights = form === 'f16' ? 'f16' : 'f32';
  return Solver.open(await memoryBundle({ ...manifest, weights }, changed));
}
