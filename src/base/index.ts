/** What every layer needs and none owns. Runs in a browser and in Node. */
export { ArgumentError, CrabError, FormatError } from './errors.js';
export {
  blobSource,
  memorySource,
  naming,
  readRange,
  type BlobLike,
  type ByteSource,
} from './byte-source.js';
