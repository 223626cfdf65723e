/**
 * The part of ONNX's published schema (onnx.proto, IR version 8) that a network of ours needs, as a
 * descriptor for protobufjs: field names and numbers are those of the standard. Reading is for files
 * that were checked, such as those of a bundle that was opened.
 */
import protobuf from 'protobufjs/light.js';

/** Element types of ONNX tensors. */
export const DATA_TYPE = { f32: 1, i8: 3, i64: 7, bool: 9, f16: 10 } as const;
export type DataType = keyof typeof DATA_TYPE;

/** Kinds of attributes. */
export const ATTRIBUTE_TYPE = { float: 1, int: 2, ints: 7 } as const;

/** A size that is known, or the name of one that is not. */
export type Dimension = number | string;

export interface TensorMessage {
  readonly name: string;
  readonly dims: readonly number[];
  readonly dataType: number;
  readonly rawData: Uint8Array;
}

export interface AttributeMessage {
  readonly name: string;
  readonly type: number;
  readonly f?: number;
  readonly i?: number;
  readonly ints?: readonly number[];
}

export interface NodeMessage {
  readonly name: string;
  readonly opType: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly attribute: readonly AttributeMessage[];
}

export interface ValueInfoMessage {
  readonly name: string;
  readonly type: {
    readonly tensorType: {
      readonly elemType: number;
      readonly shape: { readonly dim: readonly { dimValue?: number; dimParam?: string }[] };
    };
  };
}

interface ModelMessage {
  readonly irVersion: number;
  readonly producerName: string;
  readonly docString: string;
  readonly opsetImport: readonly { readonly domain: string; readonly version: number }[];
  readonly graph: {
    readonly name: string;
    readonly node: readonly NodeMessage[];
    readonly initializer: readonly TensorMessage[];
    readonly input: readonly ValueInfoMessage[];
    readonly output: readonly ValueInfoMessage[];
    readonly valueInfo: readonly ValueInfoMessage[];
  };
}

const one = (type: string, id: number) => ({ type, id });
const many = (type: string, id: number) => ({ rule: 'repeated', type, id });

const ONNX = {
  TensorProto: {
    fields: {
      dims: many('int64', 1),
      dataType: one('int32', 2),
      name: one('string', 8),
      rawData: one('bytes', 9),
    },
  },
  AttributeProto: {
    fields: {
      name: one('string', 1),
      f: one('float', 2),
      i: one('int64', 3),
      ints: many('int64', 8),
      type: one('int32', 20),
    },
  },
  NodeProto: {
    fields: {
      input: many('string', 1),
      output: many('string', 2),
      name: one('string', 3),
      opType: one('string', 4),
      attribute: many('AttributeProto', 5),
    },
  },
  Dimension: { fields: { dimValue: one('int64', 1), dimParam: one('string', 2) } },
  TensorShapeProto: { fields: { dim: many('Dimension', 1) } },
  TensorType: { fields: { elemType: one('int32', 1), shape: one('TensorShapeProto', 2) } },
  TypeProto: { fields: { tensorType: one('TensorType', 1) } },
  ValueInfoProto: { fields: { name: one('string', 1), type: one('TypeProto', 2) } },
  GraphProto: {
    fields: {
      node: many('NodeProto', 1),
      name: one('string', 2),
      initializer: many('TensorProto', 5),
      input: many('ValueInfoProto', 11),
      output: many('ValueInfoProto', 12),
      valueInfo: many('ValueInfoProto', 13),
    },
  },
  OperatorSetIdProto: { fields: { domain: one('string', 1), version: one('int64', 2) } },
  ModelProto: {
    fields: {
      irVersion: one('int64', 1),
      producerName: one('string', 2),
      docString: one('string', 6),
      graph: one('GraphProto', 7),
      opsetImport: many('OperatorSetIdProto', 8),
    },
  },
};

const modelType = protobuf.Root.fromJSON({ nested: { onnx: { nested: ONNX } } }).lookupType(
  'onnx.ModelProto',
);

/** The bytes of a model. */
export function encodeModel(model: ModelMessage): Uint8Array {
  // A plain array: in Node the writer gives a Buffer, whose slices are not copies.
  const { buffer, byteOffset, byteLength } = modelType.encode(model).finish();
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The parts of a model that this schema knows. */
export function decodeModel(bytes: Uint8Array): ModelMessage {
  const plain: unknown = modelType.toObject(modelType.decode(bytes), {
    longs: Number,
    arrays: true,
    defaults: false,
  });
  return plain as ModelMessage;
}
