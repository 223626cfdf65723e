/**
 * Builds ONNX graphs. Every value carries its type and shape, which are annotated in
 * the file; the first axis is usually the unknown size of the batch. Weights are stored as f32, as f16
 * behind a Cast, or as int8 behind a DequantizeLinear with a scale for each output channel; the
 * arithmetic is f32 always. Only the operators our networks use exist here.
 */
import { ONNX_IR_VERSION, ONNX_OPSET, productOf } from '../../base/index.js';
import { ModelError } from '../errors.js';
import { toHalf } from './half.js';
import { quantizeChannels } from './quantize.js';
import { ATTRIBUTE_TYPE, DATA_TYPE, encodeModel } from './schema.js';
import type {
  AttributeMessage,
  DataType,
  Dimension,
  NodeMessage,
  TensorMessage,
  ValueInfoMessage,
} from './schema.js';

export const WEIGHT_FORMATS = ['f32', 'f16', 'int8'] as const;
export type WeightFormat = (typeof WEIGHT_FORMATS)[number];

type Shape = readonly Dimension[];

/** A tensor in a graph. */
export interface Value {
  readonly name: string;
  readonly type: DataType;
  readonly shape: Shape;
}

/** A weight: row-major numbers and their sizes, the output channel first. */
export interface Weight {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

interface WeightOptions {
  readonly channelAxis?: number;
  readonly format?: WeightFormat;
}

type Attribute = number | readonly number[] | { readonly float: number };

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

function attributeMessage(name: string, value: Attribute): AttributeMessage {
  if (typeof value === 'number') return { name, type: ATTRIBUTE_TYPE.int, i: value };
  if ('float' in value) return { name, type: ATTRIBUTE_TYPE.float, f: value.float };
  return { name, type: ATTRIBUTE_TYPE.ints, ints: value };
}

function valueInfo({ name, type, shape }: Value): ValueInfoMessage {
  const dim = shape.map((size) =>
    typeof size === 'number' ? { dimValue: size } : { dimParam: size },
  );
  return { name, type: { tensorType: { elemType: DATA_TYPE[type], shape: { dim } } } };
}

/** The shape of two together: axes of size 1 are repeated. */
function broadcast(a: Shape, b: Shape): Shape {
  const [long, short] = a.length < b.length ? [b, a] : [a, b];
  const missing = long.length - short.length;
  return long.map((size, i) => (size === 1 && i >= missing ? short[i - missing] : size));
}

export class GraphBuilder {
  readonly #nodes: NodeMessage[] = [];
  readonly #initializers: TensorMessage[] = [];
  readonly #inputs: Value[] = [];
  readonly #outputs: Value[] = [];
  readonly #between: Value[] = [];
  readonly #names = new Set<string>();

  constructor(
    readonly name: string,
    readonly format: WeightFormat,
  ) {}

  #named(name: string): string {
    let unique = name;
    for (let n = 2; this.#names.has(unique); n++) unique = `${name}_${n}`;
    this.#names.add(unique);
    return unique;
  }

  input(name: string, shape: Shape): Value {
    const value: Value = { name: this.#named(name), type: 'f32', shape };
    this.#inputs.push(value);
    return value;
  }

  /** Makes a value an output under a name of its own. */
  output(name: string, from: Value): void {
    const value: Value = { ...from, name: this.#named(name) };
    this.#add('Identity', [from], value);
    this.#outputs.push(value);
  }

  #store(name: string, type: DataType, dims: readonly number[], data: ArrayBufferView): Value {
    const unique = this.#named(name);
    const rawData = bytesOf(data);
    this.#initializers.push({ name: unique, dims, dataType: DATA_TYPE[type], rawData });
    return { name: unique, type, shape: dims };
  }

  /** Numbers that stay f32 in every format: biases, scales, masks. */
  constant(name: string, data: Float32Array, shape: readonly number[]): Value {
    return this.#store(name, 'f32', shape, data);
  }

  integers(name: string, data: readonly number[], shape = [data.length]): Value {
    return this.#store(name, 'i64', shape, BigInt64Array.from(data, BigInt));
  }

  /** A weight in a format, the graph's unless told; `channelAxis` is the axis that a scale belongs to. */
  weight(
    name: string,
    { data, shape }: Weight,
    { channelAxis = 0, format = this.format }: WeightOptions = {},
  ): Value {
    if (data.length !== productOf(shape)) {
      throw new ModelError(`${name}: ${data.length} values for [${shape.join(', ')}]`);
    }
    switch (format) {
      case 'f32':
        return this.#store(name, 'f32', shape, data);
      case 'f16': {
        const stored = this.#store(`${name}.f16`, 'f16', shape, toHalf(data));
        return this.node('Cast', name, [stored], shape, { to: DATA_TYPE.f32 });
      }
      case 'int8':
        return this.#dequantized(name, { data, shape }, channelAxis);
    }
  }

  #dequantized(name: string, { data, shape }: Weight, axis: number): Value {
    const swapped = axis === 0 ? data : swapFirstAxes(data, shape);
    const { values, scales } = quantizeChannels(swapped, shape[axis]);
    const swappedShape = axis === 0 ? shape : [shape[1], shape[0], ...shape.slice(2)];
    const ordered = axis === 0 ? values : swapFirstAxes(values, swappedShape);
    const stored = this.#store(`${name}.i8`, 'i8', shape, ordered);
    const scale = this.#store(`${name}.scale`, 'f32', [shape[axis]], scales);
    return this.node('DequantizeLinear', name, [stored, scale], shape, { axis });
  }

  #add(
    opType: string,
    inputs: readonly Value[],
    output: Value,
    attributes: Readonly<Record<string, Attribute>> = {},
  ): void {
    this.#nodes.push({
      name: `${output.name}:${opType}`,
      opType,
      input: inputs.map((value) => value.name),
      output: [output.name],
      attribute: Object.entries(attributes).map(([key, value]) => attributeMessage(key, value)),
    });
  }

  /** Any operator with one output of a given shape. */
  node(
    opType: string,
    name: string,
    inputs: readonly Value[],
    shape: Shape,
    attributes: Readonly<Record<string, Attribute>> = {},
    type: DataType = 'f32',
  ): Value {
    const value: Value = { name: this.#named(name), type, shape };
    this.#add(opType, inputs, value, attributes);
    this.#between.push(value);
    return value;
  }

  /** An operator that works entry by entry, on shapes that are broadcast. */
  entrywise(opType: string, name: string, inputs: readonly Value[], type?: DataType): Value {
    const shape = inputs.map((value) => value.shape).reduce(broadcast);
    return this.node(opType, name, inputs, shape, {}, type);
  }

  relu(x: Value): Value {
    return this.entrywise('Relu', `${x.name}.relu`, [x]);
  }

  /** x [rows, in], weight [out, in], bias [out]; [rows, out]. */
  linear(
    name: string,
    x: Value,
    weight: Weight,
    bias: Float32Array | null,
    format = this.format,
  ): Value {
    const [out] = weight.shape;
    const operands = [x, this.weight(`${name}.weight`, weight, { format })];
    if (bias !== null) operands.push(this.constant(`${name}.bias`, bias, [out]));
    return this.node('Gemm', name, operands, [x.shape[0], out], { transB: 1 });
  }

  /** `sizes` may hold 0 (as in the input) and one -1; `shape` says what comes out. */
  reshape(name: string, x: Value, sizes: readonly number[], shape: Shape): Value {
    return this.node('Reshape', name, [x, this.integers(`${name}.sizes`, sizes)], shape);
  }

  transpose(name: string, x: Value, perm: readonly number[]): Value {
    const shape = perm.map((axis) => x.shape[axis]);
    return this.node('Transpose', name, [x], shape, { perm });
  }

  /** Entries of one axis; a single number takes the axis away. */
  gather(name: string, x: Value, index: number | readonly number[], axis: number): Value {
    const list = typeof index === 'number' ? [index] : index;
    const kept = typeof index === 'number' ? [] : [list.length];
    const at = this.integers(`${name}.index`, list, kept);
    const shape = [...x.shape.slice(0, axis), ...kept, ...x.shape.slice(axis + 1)];
    return this.node('Gather', name, [x, at], shape, { axis });
  }

  /** Entries from..to-1 of one axis. */
  slice(name: string, x: Value, axis: number, from: number, to: number): Value {
    const bounds = [from, to, axis].map((at, i) =>
      this.integers(`${name}.${['from', 'to', 'axis'][i]}`, [at]),
    );
    const shape = x.shape.map((size, i) => (i === axis ? to - from : size));
    return this.node('Slice', name, [x, ...bounds], shape);
  }

  concat(name: string, values: readonly Value[], axis: number): Value {
    const total = values.reduce((sum, { shape }) => sum + Number(shape[axis]), 0);
    const shape = values[0].shape.map((size, i) => (i === axis ? total : size));
    return this.node('Concat', name, values, shape, { axis });
  }

  /** The file. */
  encode(docString: string): Uint8Array {
    return encodeModel({
      irVersion: ONNX_IR_VERSION,
      producerName: 'crab-raven',
      docString,
      opsetImport: [{ domain: '', version: ONNX_OPSET }],
      graph: {
        name: this.name,
        node: this.#nodes,
        initializer: this.#initializers,
        input: this.#inputs.map(valueInfo),
        output: this.#outputs.map(valueInfo),
        valueInfo: this.#between.map(valueInfo),
      },
    });
  }
}

/** [a, b, ...rest] to [b, a, ...rest]. */
function swapFirstAxes<T extends Float32Array | Int8Array>(data: T, shape: readonly number[]): T {
  const [a, b] = shape;
  const rest = productOf(shape.slice(2));
  const swapped = data.slice() as T;
  for (let i = 0; i < a; i++) {
    for (let j = 0; j < b; j++) {
      const from = (i * b + j) * rest;
      swapped.set(data.subarray(from, from + rest), (j * a + i) * rest);
    }
  }
  return swapped;
}
