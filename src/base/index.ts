/** What every layer needs and none owns. Runs in a browser and in Node. */
export { ArgumentError, CrabError, FormatError } from './errors.js';
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
export {
  blobSource,
  memorySource,
  naming,
  readRange,
  type BlobLike,
  type ByteSource,
} from './byte-source.js';
