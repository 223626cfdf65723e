import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FormatError } from '../../src/base/index.js';
import {
  parseProblem,
  problemToJson,
  sampleProblem,
  validateProblem,
  type Problem,
  type ProblemJson,
} from '../../src/matrix/index.js';
import { anyProblem, RUNS } from './arbitrary.js';

const problem = sampleProblem({ configuration: 'out-in-grid', seed: 3, index: 1 });

type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> };
type Loose = Mutable<ProblemJson>;

/** A JSON value that can be changed at will. */
const loose = (source: Problem = problem): Loose =>
  JSON.parse(JSON.stringify(problemToJson(source))) as Loose;

const assign = (object: object, key: string | number, value: unknown): void => {
  Object.assign(object, { [key]: value });
};

test('a problem survives JSON', () => {
  fc.assert(
    fc.property(anyProblem, (original) => {
      const text = JSON.stringify(problemToJson(original));
      const read = parseProblem(JSON.parse(text));
      expect(read).toEqual(original);
      expect(JSON.stringify(problemToJson(read))).toBe(text);
    }),
    { numRuns: RUNS },
  );
});

const wrongs: [string, (json: Loose) => void, RegExp][] = [
  ['another version', (j) => assign(j, 'version', 2), /^version: expected 1, found 2/],
  ['a missing part', (j) => assign(j, 'context', undefined), /^context: expected a list/],
  ['an unknown key', (j) => assign(j, 'extra', 1), /^unknown key "extra"/],
  ['an unknown configuration', (j) => assign(j, 'configuration', 'x'), /^configuration: expected/],
  ['seven panels', (j) => void j.context.pop(), /^context: expected 8 items, found 7/],
  ['a target out of range', (j) => assign(j, 'target', 8), /^target: expected a whole number/],
  [
    'a level out of range',
    (j) => assign(j.context[2].components[1].entities[0], 'size', 1),
    /^context\[2\]\.components\[1\]\.entities\[0\]\.size: expected a level from 2 to 5, found 1/,
  ],
  [
    'a level that is no integer',
    (j) => assign(j.context[2].components[1].entities[0], 'type', 1.5),
    /^context\[2\]\.components\[1\]\.entities\[0\]\.type: expected a whole number/,
  ],
  [
    'a rotation where there is none',
    (j) => assign(j.context[0].components[0].entities[0], 'angle', 4),
    /angle: expected a level from 3 to 3, found 4/,
  ],
  [
    'a slot that is taken',
    (j) => {
      const { entities } = j.candidates[0].panel.components[1];
      entities.push({ ...entities[0] });
      if (entities.length > 4) entities.shift();
    },
    /slot \d is taken already/,
  ],
  [
    'a slot out of range',
    (j) => assign(j.context[0].components[0].entities[0], 'slot', 1),
    /slot: expected a level from 0 to 0, found 1/,
  ],
  [
    'a panel without entities',
    (j) => assign(j.context[0].components[0], 'entities', []),
    /entities: expected 1 to 12 items, found 0/,
  ],
  [
    'a missing component',
    (j) => void j.context[4].components.pop(),
    /^context\[4\]\.components: expected 2 items, found 1/,
  ],
  [
    'an impossible rule',
    (j) => assign(j.rules[0], 2, { name: 'Arithmetic', attribute: 'Size', value: 1 }),
    /^rules\[0\]\[2\]: the rule Arithmetic 1 on Size is impossible for Out/,
  ],
  [
    'rules in another order',
    (j) =>
      assign(
        j,
        'rules',
        j.rules.map((rules) => [...rules].reverse()),
      ),
    /^rules\[0\]\[0\]: expected a rule on Number\/Position, found one on Color/,
  ],
  [
    'a value that a rule has not',
    (j) => assign(j.rules[0][3], 'value', 1),
    /^rules\[0\]\[3\]: the rule Constant 1 on Color is impossible/,
  ],
  [
    'two equal candidates',
    (j) => assign(j.candidates[5], 'panel', j.candidates[2].panel),
    /^candidates\[5\]\.panel: equals candidates\[2\]\.panel/,
  ],
  [
    'an answer with changes',
    (j) => assign(j, 'target', (problem.target + 1) % 8),
    /changes: (the answer must have none|a wrong candidate must have at least one)/,
  ],
  [
    'the same change twice',
    (j) => {
      const { changes } = j.candidates[(problem.target + 1) % 8];
      changes.push(changes[0]);
    },
    /twice/,
  ],
  [
    'a noisy form that does not exist',
    (j) => {
      assign(j, 'configuration', 'center');
      assign(j, 'noisy', true);
    },
    /center has no noisy form/,
  ],
];

describe('a damaged problem is refused with the place', () => {
  test.each(wrongs)('%s', (_, damage, message) => {
    const json = loose();
    damage(json);
    expect(() => parseProblem(json)).toThrow(FormatError);
    expect(() => parseProblem(json)).toThrow(message);
  });

  test.each([null, undefined, 1, 'x', [], true])('%s instead of an object', (value) => {
    expect(() => parseProblem(value)).toThrow(FormatError);
  });
});

test('whatever JSON there is, it is read as a valid problem or refused', () => {
  fc.assert(
    fc.property(anyProblem, fc.nat(), fc.jsonValue(), (original, place, value) => {
      const json = loose(original);
      const places: [object, string][] = [];
      const walk = (node: object): void => {
        for (const [key, child] of Object.entries(node) as [string, unknown][]) {
          places.push([node, key]);
          if (typeof child === 'object' && child !== null) walk(child);
        }
      };
      walk(json);
      const [node, key] = places[place % places.length];
      assign(node, key, value);
      let read: Problem;
      try {
        read = parseProblem(json);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
        return;
      }
      validateProblem(read);
      expect(problemToJson(read)).toEqual(json);
    }),
    { numRuns: RUNS },
  );
});
