/** Deflate, by Node's zlib or, in a browser, by fflate. */
import { deflateSync, zlibSync } from 'fflate';
import { nodeZlib, type DeflateOptions } from './node-zlib.js';

type Deflate = (bytes: Uint8Array, options?: DeflateOptions) => Uint8Array;

/** Deflated bytes as zip files hold them. */
export const deflateRaw: Deflate = nodeZlib?.deflateRawSync ?? deflateSync;

/** Deflated bytes with zlib's header and checksum, as PNG holds them. */
export const deflateZlib: Deflate = nodeZlib?.deflateSync ?? zlibSync;
