/** Element types and devices, and which typed array holds which type's elements. */
import type { NumberArray } from './native.js';

export type DType = 'f32' | 'f64' | 'f16' | 'bf16' | 'i64' | 'i32' | 'u8' | 'bool';

/** `cpu`, `cuda` (the current one) or `cuda:<index>`. */
export type Device = 'cpu' | 'cuda' | `cuda:${number}`;

export type MemoryFormat = 'contiguous' | 'channelsLast' | 'preserve';

/** How many bytes one element takes. */
export const BYTES_PER_ELEMENT: Readonly<Record<DType, number>> = {
  f32: 4,
  f64: 8,
  f16: 2,
  bf16: 2,
  i64: 8,
  i32: 4,
  u8: 1,
  bool: 1,
};

export const DTYPES = Object.keys(BYTES_PER_ELEMENT) as readonly DType[];

/** The array with exactly a type's bits; f16 and bf16 are raw 16-bit words. */
export function allocate(dtype: DType, length: number): NumberArray {
  switch (dtype) {
    case 'f32':
      return new Float32Array(length);
    case 'f64':
      return new Float64Array(length);
    case 'f16':
    case 'bf16':
      return new Uint16Array(length);
    case 'i64':
      return new BigInt64Array(length);
    case 'i32':
      return new Int32Array(length);
    case 'u8':
    case 'bool':
      return new Uint8Array(length);
  }
}

/** The type a typed array's elements have by themselves, or null for an array that stands for none. */
export function dtypeOf(array: NumberArray): DType | null {
  if (array instanceof Float32Array) return 'f32';
  if (array instanceof Float64Array) return 'f64';
  if (array instanceof BigInt64Array) return 'i64';
  if (array instanceof Int32Array) return 'i32';
  if (array instanceof Uint8Array) return 'u8';
  return null;
}

export function isFloating(dtype: DType): boolean {
  return dtype === 'f32' || dtype === 'f64' || dtype === 'f16' || dtype === 'bf16';
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
