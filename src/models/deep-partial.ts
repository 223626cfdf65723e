/** A configuration with parts left out, and how such a part changes a whole one. */
import { isRecord } from '../base/index.js';

/** A value with any part left out, at any depth. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** `base` with the values of `overrides` in place of its own; lists are replaced whole. */
export function merged(base: unknown, overrides: unknown): unknown {
  if (!isRecord(base) || !isRecord(overrides)) return overrides === undefined ? base : overrides;
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(overrides)) result[key] = merged(result[key], value);
  return result;
}
