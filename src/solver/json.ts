/** Typed reading of JSON from a bundle; every failure names the place and what would be right there. */
import { BundleError } from './errors.js';

export class JsonValue {
  constructor(
    readonly value: unknown,
    readonly path: string,
  ) {}

  static parse(bytes: Uint8Array, name: string): JsonValue {
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      return new JsonValue(JSON.parse(text), name);
    } catch (cause) {
      throw new BundleError(`${name} is not JSON`, { cause });
    }
  }

  fail(expected: string): never {
    const text = this.value === undefined ? 'nothing' : (JSON.stringify(this.value) ?? '?');
    const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
    throw new BundleError(`${this.path}: expected ${expected}, found ${shown}`);
  }

  get(key: string): JsonValue {
    if (typeof this.value !== 'object' || this.value === null || Array.isArray(this.value)) {
      this.fail('an object');
    }
    const own = Object.hasOwn(this.value, key);
    const inner = own ? (this.value as Record<string, unknown>)[key] : undefined;
    return new JsonValue(inner, `${this.path}, ${key}`);
  }

  get isNull(): boolean {
    return this.value === null || this.value === undefined;
  }

  keys(): string[] {
    if (typeof this.value !== 'object' || this.value === null) this.fail('an object');
    return Object.keys(this.value);
  }

  /** Entries of a list whose length lies within bounds. */
  items(min: number, max: number): JsonValue[] {
    if (!Array.isArray(this.value)) this.fail('a list');
    if (this.value.length < min || this.value.length > max) {
      this.fail(min === max ? `a list of ${min}` : `a list of ${min} to ${max}`);
    }
    return this.value.map((item: unknown, i) => new JsonValue(item, `${this.path}[${i}]`));
  }

  integer(min: number, max: number): number {
    const { value } = this;
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
      this.fail(`a whole number from ${min} to ${max}`);
    }
    return value as number;
  }

  number(): number {
    if (typeof this.value !== 'number' || !Number.isFinite(this.value)) this.fail('a number');
    return this.value;
  }

  numbers(length: number): number[] {
    return this.items(length, length).map((item) => item.number());
  }

  text(longest = 1000): string {
    if (typeof this.value !== 'string' || this.value.length > longest) this.fail('a text');
    return this.value;
  }

  flag(): boolean {
    if (typeof this.value !== 'boolean') this.fail('true or false');
    return this.value;
  }

  oneOf<T extends string>(choices: readonly T[]): T {
    return choices.find((choice) => choice === this.value) ?? this.fail(choices.join(' or '));
  }

  nullOr<T>(read: (value: JsonValue) => T): T | null {
    return this.isNull ? null : read(this);
  }
}
