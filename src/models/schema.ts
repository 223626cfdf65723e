/**
 * Typed reading of plain JSON values: a reader checks a value and returns it with its type, and the
 * type of a configuration is inferred from its reader, so that the two cannot differ. Unknown keys
 * are errors.
 */
import { ConfigurationError } from './errors.js';

/** Checks `value`, found at `path`, and returns it typed. */
export type Reader<T> = (value: unknown, path: string) => T;
export type Read<R> = R extends Reader<infer T> ? T : never;

function fail(path: string, expected: string, value: unknown): never {
  const shown = value === undefined ? 'nothing' : JSON.stringify(value);
  throw new ConfigurationError(`${path}: expected ${expected}, got ${shown.slice(0, 80)}`);
}

export interface Range {
  readonly min?: number;
  readonly max?: number;
}

function inRange(value: number, { min = -Infinity, max = Infinity }: Range): boolean {
  return value >= min && value <= max;
}

function described(kind: string, { min, max }: Range): string {
  if (min !== undefined && max !== undefined) return `${kind} from ${min} to ${max}`;
  if (min !== undefined) return `${kind} of at least ${min}`;
  return max === undefined ? kind : `${kind} of at most ${max}`;
}

export const number =
  (range: Range = {}): Reader<number> =>
  (value, path) =>
    typeof value === 'number' && Number.isFinite(value) && inRange(value, range)
      ? value
      : fail(path, described('a number', range), value);

export const integer =
  (range: Range = {}): Reader<number> =>
  (value, path) =>
    Number.isSafeInteger(value) && inRange(value as number, range)
      ? (value as number)
      : fail(path, described('a whole number', range), value);

export const boolean: Reader<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : fail(path, 'true or false', value);

export const oneOf =
  <const T extends string>(choices: readonly T[]): Reader<T> =>
  (value, path) =>
    choices.find((choice) => choice === value) ?? fail(path, `one of ${choices.join(', ')}`, value);

export const nullable =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (value, path) =>
    value === null ? null : reader(value, path);

/** Absent means `value`: for what files written before it existed do not have. */
export const withDefault =
  <T>(reader: Reader<T>, value: T): Reader<T> =>
  (given, path) =>
    given === undefined ? value : reader(given, path);

export const list =
  <T>(reader: Reader<T>, { min = 0, max = 1000 }: Range = {}): Reader<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value) || !inRange(value.length, { min, max })) {
      return fail(path, `a list of ${min} to ${max} entries`, value);
    }
    return value.map((entry: unknown, i) => reader(entry, `${path}[${i}]`));
  };

export const pair =
  <A, B>(first: Reader<A>, second: Reader<B>): Reader<readonly [A, B]> =>
  (value, path) =>
    Array.isArray(value) && value.length === 2
      ? [first(value[0], `${path}[0]`), second(value[1], `${path}[1]`)]
      : fail(path, 'a pair', value);

export type Fields = Readonly<Record<string, Reader<unknown>>>;
export type ReadFields<F extends Fields> = { readonly [K in keyof F]: Read<F[K]> };

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object with exactly these fields. */
export const object =
  <F extends Fields>(fields: F): Reader<ReadFields<F>> =>
  (value, path) => {
    if (!isRecord(value)) return fail(path, 'an object', value);
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(fields, key)) {
        throw new ConfigurationError(
          `${path}: unknown key "${key}"; the keys are ${Object.keys(fields).join(', ')}`,
        );
      }
    }
    const entries = Object.entries(fields).map(([key, reader]) => [
      key,
      reader(value[key], `${path}.${key}`),
    ]);
    return Object.fromEntries(entries) as ReadFields<F>;
  };

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
