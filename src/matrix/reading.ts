/**
 * Typed reading of values from outside (parsed JSON). Every failure names the place, as in
 * `context[3].components[0]`, and what would be right there. The caller decides on the class of error.
 */
import type { CrabError } from '../base/index.js';

export type ErrorClass = new (message: string) => CrabError;

/** A value from outside, with the place it stands at. */
export class Reading {
  constructor(
    readonly value: unknown,
    readonly path: string,
    private readonly errorClass: ErrorClass,
  ) {}

  fail(expected: string): never {
    throw new this.errorClass(this.path === '' ? expected : `${this.path}: ${expected}`);
  }

  /** The same place with what was found there, for messages. */
  shown(): string {
    const { value } = this;
    if (Array.isArray(value)) return 'an array';
    if (typeof value === 'object' && value !== null) return 'an object';
    if (typeof value === 'string') return JSON.stringify(shorten(value));
    return String(value);
  }

  at(value: unknown, step: string): Reading {
    const path = this.path === '' ? step.replace(/^\./, '') : this.path + step;
    return new Reading(value, path, this.errorClass);
  }

  isArray(): boolean {
    return Array.isArray(this.value);
  }

  isObject(): boolean {
    return typeof this.value === 'object' && this.value !== null && !Array.isArray(this.value);
  }

  items(min = 0, max = Infinity): Reading[] {
    if (!Array.isArray(this.value)) this.fail(`expected an array, found ${this.shown()}`);
    const items: unknown[] = this.value;
    if (items.length < min || items.length > max) {
      const wanted = min === max ? `${min}` : `${min} to ${max}`;
      this.fail(`expected ${wanted} items, found ${items.length}`);
    }
    return items.map((item, index) => this.at(item, `[${index}]`));
  }

  /** The members of an object that has no others than those named. */
  members<K extends string>(known: readonly K[]): Record<K, Reading> {
    if (!this.isObject()) this.fail(`expected an object, found ${this.shown()}`);
    const object = this.value as Record<string, unknown>;
    for (const key of Object.keys(object)) {
      if (!(known as readonly string[]).includes(key)) {
        this.fail(`unknown key ${JSON.stringify(shorten(key))}: expected ${known.join(', ')}`);
      }
    }
    const entries = known.map((key) => [
      key,
      this.at(Object.hasOwn(object, key) ? object[key] : undefined, `.${key}`),
    ]);
    return Object.fromEntries(entries) as Record<K, Reading>;
  }

  integer(min: number, max: number): number {
    const { value } = this;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
      this.fail(`expected an integer from ${min} to ${max}, found ${this.shown()}`);
    }
    return value;
  }

  boolean(): boolean {
    const { value } = this;
    if (typeof value !== 'boolean') this.fail(`expected true or false, found ${this.shown()}`);
    return value;
  }

  oneOf<T extends string>(choices: readonly T[]): T {
    const found = choices.find((choice) => choice === this.value);
    if (found === undefined) this.fail(`expected ${choices.join(', ')}, found ${this.shown()}`);
    return found;
  }
}

const LONGEST_SHOWN = 40;

const shorten = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
