/**
 * A look at an ONNX file before a runtime sees it: the right versions, only operators our networks are
 * made of, weights that are inside the file (never in others) and as long as their shapes say, and no
 * absurd sizes among the whole-number tensors that reshape and pad. Reads the wire format of protocol
 * buffers in place, without copies.
 */
import { ONNX_IR_VERSION, ONNX_OPSET } from '../base/index.js';
import { BundleError } from './errors.js';

const LARGEST_INTEGER = 1n << 20n;

const OPERATORS = new Set([
  'Add',
  'Cast',
  'Concat',
  'Conv',
  'ConvTranspose',
  'DequantizeLinear',
  'Gather',
  'Gemm',
  'Greater',
  'Identity',
  'LayerNormalization',
  'LeakyRelu',
  'MatMul',
  'Mul',
  'Pad',
  'Relu',
  'Reshape',
  'Sigmoid',
  'Slice',
  'Softmax',
  'Softplus',
  'Sub',
  'Transpose',
  'Unsqueeze',
  'Where',
]);

/** Bytes of an element by ONNX's numbers of types. */
const ELEMENT_BYTES: Readonly<Record<number, number>> = { 1: 4, 3: 1, 7: 8, 10: 2 };
const INT64 = 7;

const MODEL = { irVersion: 1, graph: 7, opsetImport: 8, functions: 25 };
const OPERATOR_SET = { domain: 1, version: 2 };
const GRAPH = { node: 1, initializer: 5, sparseInitializer: 15 };
const NODE = { opType: 4, attribute: 5, domain: 7 };
const ATTRIBUTE = { tensor: 5, graph: 6, tensors: 10, graphs: 11 };
const TENSOR = { dims: 1, dataType: 2, rawData: 9, externalData: 13, dataLocation: 14 };

interface Field {
  readonly number: number;
  /** Of numbers. */
  readonly value: bigint;
  /** Of everything with a length. */
  readonly body: Uint8Array;
}

const EMPTY = new Uint8Array(0);

function damaged(): never {
  throw new BundleError('the ONNX file is damaged');
}

/** Fields of a message, in order. */
function* fieldsOf(bytes: Uint8Array): Generator<Field, void, undefined> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (at >= bytes.length) damaged();
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    return damaged();
  };
  const skipped = (length: bigint): Uint8Array => {
    if (length < 0n || length > BigInt(bytes.length - at)) damaged();
    const body = bytes.subarray(at, at + Number(length));
    at += body.length;
    return body;
  };
  while (at < bytes.length) {
    const key = varint();
    const number = Number(key >> 3n);
    switch (Number(key & 7n)) {
      case 0:
        yield { number, value: varint(), body: EMPTY };
        break;
      case 1:
        yield { number, value: 0n, body: skipped(8n) };
        break;
      case 2:
        yield { number, value: 0n, body: skipped(varint()) };
        break;
      case 5:
        yield { number, value: 0n, body: skipped(4n) };
        break;
      default:
        damaged();
    }
  }
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Numbers of a repeated field, packed or not. */
function* varintsOf({ value, body }: Field): Generator<bigint, void, undefined> {
  if (body.length === 0) {
    yield value;
    return;
  }
  let current = 0n;
  let shift = 0n;
  for (const byte of body) {
    current |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte >= 0x80) continue;
    yield BigInt.asIntN(64, current);
    current = 0n;
    shift = 0n;
  }
}

function checkTensor(bytes: Uint8Array): void {
  let elements = 1n;
  let type = 0;
  let data: Uint8Array = EMPTY;
  for (const field of fieldsOf(bytes)) {
    if (field.number === TENSOR.dims) {
      for (const size of varintsOf(field)) {
        if (size < 0n || size > 1n << 32n) damaged();
        elements *= size;
      }
    } else if (field.number === TENSOR.dataType) type = Number(field.value);
    else if (field.number === TENSOR.rawData) data = field.body;
    else if (field.number === TENSOR.externalData || field.number === TENSOR.dataLocation) {
      throw new BundleError('the ONNX file keeps weights in other files, which is not allowed');
    }
  }
  const width = ELEMENT_BYTES[type] ?? 0;
  if (width === 0 || BigInt(data.length) !== elements * BigInt(width)) {
    throw new BundleError('the ONNX file has a weight whose size is not that of its shape');
  }
  if (type === INT64) checkIntegers(data);
}

function checkIntegers(data: Uint8Array): void {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let at = 0; at < data.length; at += 8) {
    const value = view.getBigInt64(at, true);
    if (value > LARGEST_INTEGER || value < -LARGEST_INTEGER) {
      throw new BundleError('the ONNX file asks for an absurd size');
    }
  }
}

function checkNode(bytes: Uint8Array): void {
  for (const { number, body } of fieldsOf(bytes)) {
    if (number === NODE.domain && body.length > 0) {
      throw new BundleError(`the ONNX file uses operators of ${textOf(body).slice(0, 60)}`);
    }
    if (number === NODE.opType && !OPERATORS.has(textOf(body))) {
      throw new BundleError(`the ONNX file uses the operator ${textOf(body).slice(0, 60)}`);
    }
    if (number !== NODE.attribute) continue;
    for (const inner of fieldsOf(body)) {
      if (Object.values(ATTRIBUTE).includes(inner.number)) {
        throw new BundleError('the ONNX file hides tensors or graphs in attributes');
      }
    }
  }
}

function checkGraph(bytes: Uint8Array): void {
  for (const { number, body } of fieldsOf(bytes)) {
    if (number === GRAPH.node) checkNode(body);
    else if (number === GRAPH.initializer) checkTensor(body);
    else if (number === GRAPH.sparseInitializer) damaged();
  }
}

function checkOpset(bytes: Uint8Array): void {
  let domain = '';
  let version = 0n;
  for (const { number, value, body } of fieldsOf(bytes)) {
    if (number === OPERATOR_SET.domain) domain = textOf(body);
    if (number === OPERATOR_SET.version) version = value;
  }
  if (domain !== '' || version !== BigInt(ONNX_OPSET)) {
    throw new BundleError(
      `the ONNX file needs version ${version.toString()} of the operators${domain && ` of ${domain}`}, not ${ONNX_OPSET}`,
    );
  }
}

/** Throws a BundleError if the bytes are not a network of ours. */
export function checkOnnx(bytes: Uint8Array): void {
  let graphs = 0;
  let irVersion = 0n;
  for (const { number, value, body } of fieldsOf(bytes)) {
    if (number === MODEL.irVersion) irVersion = value;
    else if (number === MODEL.opsetImport) checkOpset(body);
    else if (number === MODEL.functions) damaged();
    else if (number === MODEL.graph) {
      graphs++;
      checkGraph(body);
    }
  }
  if (graphs !== 1 || irVersion !== BigInt(ONNX_IR_VERSION)) damaged();
}
