/** What is said between a reader of HDF5 caches and its thread. */

/** What the thread is told when it starts. */
export interface LibraryLimits {
  /** Most bytes that the HDF5 library may take. */
  readonly memoryLimit: number;
}

export type CacheRequest =
  /** Opens a file, by its full path, with the library as good as new. */
  | { readonly kind: 'open'; readonly file: string }
  | { readonly kind: 'read'; readonly first: number; readonly count: number }
  | { readonly kind: 'close' };

export type CacheReply =
  | { readonly kind: 'opened'; readonly count: number; readonly concepts: number }
  | {
      readonly kind: 'rows';
      readonly panel: Uint8Array;
      readonly selection: Uint8Array;
      readonly answer: number[];
      readonly label: number[];
    }
  /** The thread may be given another file, unless it is spent. */
  | { readonly kind: 'closed'; readonly spent: boolean }
  | { readonly kind: 'refused'; readonly message: string };

/** Problems that the thread reads at once; longer requests are cut. */
export const MAX_CACHE_BATCH = 32;
