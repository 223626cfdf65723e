/** Element types and devices, and which typed array holds which type's elements. */
import type { NumberArray } from './native.js';

export type DType = 'f32' | 'f64' | 'f16' | 'bf16' | 'i64' | 'i32' | 'u8' | 'bool';

/** `cpu`, `cuda` (the current one) or `cuda:<index>`. */
export type Device = 'cpu' | 'cuda' | `cuda:${number}`;

export type MemoryFormat = 'contiguous' | 'channelsLast' | 'preserve';

/** The arrays with exactly a type's bits; f16 and bf16 are raw 16-bit words. */
const ARRAYS = {
  f32: Float32Array,
  f64: Float64Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  i64: BigInt64Array,
  i32: Int32Array,
  u8: Uint8Array,
  bool: Uint8Array,
} as const;

export const DTYPES = Object.keys(ARRAYS) as readonly DType[];

/** How many bytes one element takes. */
export const BYTES_PER_ELEMENT = Object.fromEntries(
  DTYPES.map((dtype) => [dtype, ARRAYS[dtype].BYTES_PER_ELEMENT]),
) as Readonly<Record<DType, number>>;

/** Elements of a type: so many new ones, or those in a buffer. */
export function elementsOf(dtype: DType, from: number | ArrayBuffer): NumberArray {
  return new ARRAYS[dtype](from as ArrayBuffer);
}

/** The type a typed array's elements have by themselves, or null for an array that stands for none. */
export function dtypeOf(array: NumberArray): DType | null {
  const own = (['f32', 'f64', 'i64', 'i32', 'u8'] as const).find(
    (dtype) => array instanceof ARRAYS[dtype],
  );
  return own ?? null;
}

export function isFloating(dtype: DType): boolean {
  return dtype === 'f32' || dtype === 'f64' || dtype === 'f16' || dtype === 'bf16';
}
