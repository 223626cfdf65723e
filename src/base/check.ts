/**
 * Checks of values from outside, mostly parsed JSON: a reader checks a value and returns it with its
 * type, and the type of a configuration is inferred from its reader, so that the two cannot differ.
 * A failure is one sentence that names the place, as in `context[3].components[0]`, and what would be
 * right there; the caller of `read` decides on its class.
 */
import { FormatError } from './errors.js';

/** What a reader throws; `read` turns it into the caller's error. */
class CheckError extends FormatError {
  override name = 'CheckError';
}

/** A value from outside and the place it stands at. */
export class Given {
  constructor(
    readonly value: unknown,
    readonly path = '',
  ) {}

  fail(message: string): never {
    throw new CheckError(this.path === '' ? message : `${this.path}: ${message}`);
  }

  expected(what: string): never {
    return this.fail(`expected ${what}, found ${shown(this.value)}`);
  }

  /** Whether there is something; null counts as nothing. */
  get isPresent(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  /** An entry of a list. */
  entry(index: number): Given {
    return new Given((this.value as readonly unknown[])[index], `${this.path}[${index}]`);
  }

  /** A member of an object. */
  member(key: string): Given {
    if (!isRecord(this.value)) this.expected('an object');
    const inner = Object.hasOwn(this.value, key) ? this.value[key] : undefined;
    return new Given(inner, this.path === '' ? key : `${this.path}.${key}`);
  }

  /** The members of an object that has no others than those named. */
  members<K extends string>(known: readonly K[]): Record<K, Given> {
    if (!isRecord(this.value)) this.expected('an object');
    for (const key of Object.keys(this.value)) {
      if (!(known as readonly string[]).includes(key)) {
        this.fail(`unknown key ${JSON.stringify(shortened(key))}: expected ${known.join(', ')}`);
      }
    }
    return Object.fromEntries(known.map((key) => [key, this.member(key)])) as Record<K, Given>;
  }

  /** The entries of a list whose length lies within bounds. */
  items(min = 0, max = Infinity): Given[] {
    const { value } = this;
    if (!Array.isArray(value)) this.expected('a list');
    const count = value.length;
    if (count < min || count > max) {
      const most = max === Infinity ? ' or more' : ` to ${max}`;
      this.fail(`expected ${min === max ? min : `${min}${most}`} items, found ${count}`);
    }
    return Array.from({ length: count }, (_, index) => this.entry(index));
  }
}

/** Checks a value and returns it typed. */
export type Reader<T> = (given: Given) => T;
export type Read<R> = R extends Reader<infer T> ? T : never;
export type ErrorClass = new (message: string, options?: ErrorOptions) => Error;

/** Reads a value; a failure is a `Fault`. `name`, e.g. of its file, begins the sentence. */
export function read<T>(reader: Reader<T>, value: unknown, Fault: ErrorClass, name = ''): T {
  try {
    return reader(new Given(value));
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    throw new Fault(name === '' ? error.message : `${name}: ${error.message}`, { cause: error });
  }
}

/** The value of a JSON text, which may come as bytes of UTF-8. */
export function parseJson(text: string | Uint8Array, Fault: ErrorClass, name: string): unknown {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    return JSON.parse(typeof text === 'string' ? text : decoder.decode(text));
  } catch (cause) {
    throw new Fault(`${name} is not JSON`, { cause });
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const LONGEST_SHOWN = 40;

const shortened = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;

/** A value in a message. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'an object';
  if (typeof value === 'number') return String(value); // NaN is no JSON
  return JSON.stringify(typeof value === 'string' ? shortened(value) : value);
}

export interface Range {
  readonly min?: number;
  readonly max?: number;
  /** As `min` and `max`, but without the bound itself. */
  readonly above?: number;
  readonly below?: number;
}

const isInRange = (value: number, range: Range): boolean =>
  value >= (range.min ?? -Infinity) &&
  value <= (range.max ?? Infinity) &&
  value > (range.above ?? -Infinity) &&
  value < (range.below ?? Infinity);

function described(kind: string, { min, max, above, below }: Range): string {
  if (min !== undefined && max !== undefined) {
    return min === max ? String(min) : `${kind} from ${min} to ${max}`;
  }
  const bounds = [
    min === undefined ? '' : ` of at least ${min}`,
    max === undefined ? '' : ` of at most ${max}`,
    above === undefined ? '' : ` above ${above}`,
    below === undefined ? '' : ` below ${below}`,
  ].filter((bound) => bound !== '');
  return `${kind}${bounds.join(' and')}`;
}

const numeric =
  (kind: string, isOne: (value: unknown) => boolean) =>
  (range: Range = {}): Reader<number> =>
  (given) => {
    const value = given.value as number;
    return isOne(value) && isInRange(value, range) ? value : given.expected(described(kind, range));
  };

export const number = numeric('a number', Number.isFinite);
export const integer = numeric('a whole number', Number.isSafeInteger);

export const boolean: Reader<boolean> = (given) =>
  typeof given.value === 'boolean' ? given.value : given.expected('true or false');

/** A text of bounded length. */
export const text =
  (longest = 1000): Reader<string> =>
  (given) => {
    const { value } = given;
    if (typeof value !== 'string') return given.expected('a text');
    return value.length <= longest ? value : given.expected(`at most ${longest} characters`);
  };

export const oneOf =
  <const T extends string | number>(choices: readonly T[]): Reader<T> =>
  (given) => {
    const found = choices.find((choice) => choice === given.value);
    const wanted = choices.length === 1 ? shown(choices[0]) : `one of ${choices.join(', ')}`;
    return found ?? given.expected(wanted);
  };

export const nullable =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (given) =>
    given.value === null ? null : reader(given);

/** Absent means `value`: for what files written before it existed do not have. */
export const withDefault =
  <T, D extends T>(reader: Reader<T>, value: D): Reader<T> =>
  (given) =>
    given.value === undefined ? value : reader(given);

export const list =
  <T>(reader: Reader<T>, { min = 0, max = 1000 }: Range = {}): Reader<readonly T[]> =>
  (given) =>
    given.items(min, max).map(reader);

export const pair =
  <A, B>(first: Reader<A>, second: Reader<B>): Reader<readonly [A, B]> =>
  (given) => {
    const [a, b] = given.items(2, 2);
    return [first(a), second(b)];
  };

/** An object with any keys, all with the same kind of value. */
export const dictionary =
  <T>(reader: Reader<T>): Reader<Readonly<Record<string, T>>> =>
  (given) => {
    if (!isRecord(given.value)) return given.expected('an object');
    const entries = Object.keys(given.value).map((key) => [key, reader(given.member(key))]);
    return Object.fromEntries(entries) as Record<string, T>;
  };

export type Fields = Readonly<Record<string, Reader<unknown>>>;
type OptionalKeys<F extends Fields> = {
  [K in keyof F]: undefined extends Read<F[K]> ? K : never;
}[keyof F];
export type ReadFields<F extends Fields> = {
  readonly [K in Exclude<keyof F, OptionalKeys<F>>]: Read<F[K]>;
} & { readonly [K in OptionalKeys<F>]?: Read<F[K]> };

/** An object with at least these fields; others, as of later versions, are ignored. */
export const objectWith =
  <F extends Fields>(fields: F): Reader<ReadFields<F>> =>
  (given) => {
    const entries = Object.entries(fields).map(([key, reader]) => [key, reader(given.member(key))]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as ReadFields<F>;
  };

/** An object with exactly these fields. */
export const object =
  <F extends Fields>(fields: F): Reader<ReadFields<F>> =>
  (given) => {
    given.members(Object.keys(fields));
    return objectWith(fields)(given);
  };

/** Absent stays absent. */
export const optional =
  <T>(reader: Reader<T>): Reader<T | undefined> =>
  (given) =>
    given.value === undefined ? undefined : reader(given);

/** One of several objects; the field `kind` says which. Fields of none of them are ignored. */
export const byKind =
  <const K extends Readonly<Record<string, Fields>>>(
    kinds: K,
  ): Reader<
    { [N in keyof K & string]: { readonly kind: N } & ReadFields<K[N]> }[keyof K & string]
  > =>
  (given) => {
    const kind = oneOf(Object.keys(kinds) as (keyof K & string)[])(given.member('kind'));
    return { kind, ...objectWith(kinds[kind])(given) };
  };
