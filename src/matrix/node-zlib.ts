/**
 * Node's own zlib, if this is Node: many times faster than JavaScript. Asked for without an import,
 * which a browser could not resolve.
 */
export interface DeflateOptions {
  /** 1 (fast) to 9 (small); 6 unless told. */
  readonly level?: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
}

interface NodeZlib {
  readonly crc32?: (bytes: Uint8Array, before?: number) => number;
  readonly deflateSync: (bytes: Uint8Array, options?: DeflateOptions) => Uint8Array;
  readonly deflateRawSync: (bytes: Uint8Array, options?: DeflateOptions) => Uint8Array;
}

export const nodeZlib: NodeZlib | undefined = (
  globalThis as { process?: { getBuiltinModule?: (name: string) => NodeZlib | undefined } }
).process?.getBuiltinModule?.('node:zlib');
