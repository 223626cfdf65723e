/** What every layer needs and none owns. Runs in a browser and in Node. */
export { ArgumentError, CrabError, firstLineOf, FormatError, messageOf } from './errors.js';
export {
  boolean,
  byKind,
  dictionary,
  Given,
  integer,
  isRecord,
  list,
  nullable,
  number,
  object,
  objectWith,
  oneOf,
  optional,
  pair,
  parseJson,
  read,
  shown,
  text,
  withDefault,
  type Read,
  type Reader,
} from './check.js';
export { concatenate } from './bytes.js';
export { counted } from './counted.js';
export { ONNX_IR_VERSION, ONNX_OPSET } from './onnx-version.js';
export { gibibytes, megabytes, percent } from './readable.js';
export { areEqual, indexOfLargest, logSumExp, median, productOf } from './numbers.js';
export { choleskyInverse, invertPositive, symmetricEigen } from './linear-algebra.js';
export {
  encodeHeader,
  headerLength,
  lengthBytes,
  maximumHeaderBytes,
  parseHeader,
  SafetensorsError,
  tensorBytes,
  writingOrder,
  type SafetensorsHeader,
  type SafetensorsProblem,
  type StoredDType,
  type StoredTensor,
  type TensorDescription,
} from './safetensors.js';
export {
  blobSource,
  memorySource,
  naming,
  readRange,
  type BlobLike,
  type ByteSource,
} from './byte-source.js';
export { wilsonInterval, type Interval } from './wilson.js';
export { CounterRandom, derivedSeed, philoxBlock, STREAM, type Stream } from './philox.js';
