import { describe, expect, test } from 'vitest';
import {
  boolean,
  byKind,
  dictionary,
  FormatError,
  integer,
  list,
  nullable,
  number,
  object,
  objectWith,
  oneOf,
  optional,
  pair,
  parseJson,
  read,
  text,
  withDefault,
} from '../../src/base/index.js';

class Fault extends Error {}

const shape = object({
  name: text(5),
  size: integer({ min: 1, max: 4 }),
  weight: number({ above: 0, below: 1 }),
  flags: list(boolean, { min: 1, max: 2 }),
  kind: oneOf(['a', 'b']),
  span: pair(number(), number()),
  seed: nullable(integer()),
  added: withDefault(integer(), 7),
  note: optional(text()),
});
const RIGHT = {
  name: 'x',
  size: 2,
  weight: 0.5,
  flags: [true],
  kind: 'a',
  span: [1, 2],
  seed: null,
};

describe('readers', () => {
  test('return the value with defaults in place, and leave absent options out', () => {
    expect(read(shape, RIGHT, Fault)).toEqual({ ...RIGHT, added: 7 });
    expect(read(shape, RIGHT, Fault)).not.toHaveProperty('note');
  });

  test.each<[object, string]>([
    [{ name: 'longer' }, 'file: name: expected at most 5 characters, found "longer"'],
    [{ name: 3 }, 'file: name: expected a text, found 3'],
    [{ size: 5 }, 'file: size: expected a whole number from 1 to 4, found 5'],
    [{ size: 1.5 }, 'file: size: expected a whole number from 1 to 4, found 1.5'],
    [{ weight: 0 }, 'file: weight: expected a number above 0 and below 1, found 0'],
    [{ weight: NaN }, 'file: weight: expected a number above 0 and below 1, found NaN'],
    [{ flags: [true, 1] }, 'file: flags[1]: expected true or false, found 1'],
    [{ flags: [] }, 'file: flags: expected 1 to 2 items, found 0'],
    [{ flags: {} }, 'file: flags: expected a list, found an object'],
    [{ kind: 'c' }, 'file: kind: expected one of a, b, found "c"'],
    [{ span: [1] }, 'file: span: expected 2 items, found 1'],
    [{ span: [1, 'x'] }, 'file: span[1]: expected a number, found "x"'],
    [{ seed: undefined }, 'file: seed: expected a whole number, found nothing'],
    [
      { other: 1 },
      'file: unknown key "other": expected name, size, weight, flags, kind, span, seed, added, note',
    ],
  ])('%j is refused', (change, message) => {
    expect(() => read(shape, { ...RIGHT, ...change }, Fault, 'file')).toThrow(new Fault(message));
  });

  test('a value that is no object at all is named by its file', () => {
    expect(() => read(shape, [1], Fault, 'file')).toThrow(
      new Fault('file: expected an object, found a list'),
    );
  });

  test('keys of the prototype are not members', () => {
    const reader = objectWith({ toString: optional(text()) });
    expect(read(reader, {}, Fault)).toEqual({});
  });

  test('objectWith ignores other keys, dictionary takes any', () => {
    expect(read(objectWith({ a: number() }), { a: 1, b: 2 }, Fault)).toEqual({ a: 1 });
    expect(read(dictionary(number()), { a: 1, b: 2 }, Fault)).toEqual({ a: 1, b: 2 });
    expect(() => read(dictionary(number()), { a: 'x' }, Fault)).toThrow(/^a: expected a number/);
  });

  test('byKind reads the fields of the kind that is named', () => {
    const budget = byKind({ steps: { steps: integer() }, time: { seconds: number() } });
    expect(read(budget, { kind: 'time', seconds: 2 }, Fault)).toEqual({ kind: 'time', seconds: 2 });
    expect(() => read(budget, { kind: 'steps', seconds: 2 }, Fault)).toThrow(/^steps: expected/);
    expect(() => read(budget, { kind: 'x' }, Fault)).toThrow(/^kind: expected one of steps, time/);
  });

  test('errors that are no failed check pass unchanged', () => {
    const broken = () => {
      throw new TypeError('a defect');
    };
    expect(() => read(broken, 1, FormatError)).toThrow(TypeError);
  });
});

test('parseJson takes texts and UTF-8, and names what is neither', () => {
  expect(parseJson('{"a":1}', Fault, 'x')).toEqual({ a: 1 });
  expect(parseJson(new TextEncoder().encode('["é"]'), Fault, 'x')).toEqual(['é']);
  expect(() => parseJson('{', Fault, 'x.json')).toThrow(new Fault('x.json is not JSON'));
  expect(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22), Fault, 'x.json')).toThrow(Fault);
});
