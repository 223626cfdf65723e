/** What a look at the native libraries finds; types only, shared with the process that looks. */

export type Library = 'torch' | 'onnx';

export interface TorchFinding {
  readonly version: string;
  readonly cuda: boolean;
  readonly devices: readonly { readonly name: string; readonly memory: number }[];
  readonly blas: string;
}

export interface OnnxFinding {
  readonly version: string;
  readonly kind: 'native' | 'wasm';
  /** Why the native one, five times as fast, is not used; null if it is, or if another was asked for. */
  readonly nativeFault: string | null;
}

export type Finding<Found> =
  | { readonly found: Found; readonly reason: null }
  | { readonly found: null; readonly reason: string };
