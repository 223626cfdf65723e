/** What is said between a reader of HDF5 caches and its thread. */

/** What the thread is told when it starts. */
export interface CacheTask {
  readonly file: string;
  /** Most bytes that the HDF5 library may take. */
  readonly memoryLimit: number;
}
export interface CacheRequest {
  readonly first: number;
  readonly count: number;
}
export type CacheReply =
  | { readonly kind: 'opened'; readonly count: number; readonly concepts: number }
  | {
      readonly kind: 'rows';
      readonly panel: Uint8Array;
      readonly selection: Uint8Array;
      readonly answer: number[];
      readonly label: number[];
    }
  | { readonly kind: 'refused'; readonly message: string };

/** Problems that the thread reads at once; longer requests are cut. */
export const MAX_CACHE_BATCH = 32;
