/** Variance decline and names of concepts, of encoders whose concepts are known. */
import { describe, expect, test } from 'vitest';
import { nameConcepts, varianceDecline } from '../../src/lab/index.js';
import { Random, type Entity } from '../../src/matrix/index.js';
import type { ConceptMeans } from '../../src/solver/index.js';
import { madeUpSubject, recogniser } from './made-up.js';

const SIZE = 4;

/** A code of its own for each value: a random vector. */
function code(value: number, concept: number): Float32Array {
  const random = new Random(value, concept, 5);
  return Float32Array.from({ length: SIZE }, () => random.next() / 2 ** 31 - 1);
}

const maskOf = (entities: readonly Entity[]): number =>
  entities.reduce((mask, { slot }) => mask | (1 << slot), 0);

describe('an encoder whose concepts are the attributes', () => {
  const see = recogniser('grid-2x2');
  const encode = (picture: Uint8Array): ConceptMeans => {
    const entities = see(picture);
    const [{ type, size, color }] = entities;
    return [
      code(size, 0),
      code(maskOf(entities), 1),
      code(color, 2),
      code(type, 3),
      code(type, 4).map((value, i) => value + code(size, 5)[i]),
      new Float32Array(SIZE),
    ];
  };
  const subject = madeUpSubject({ configuration: 'grid-2x2', concepts: 6, size: SIZE, encode });

  test('has a diagonal of variance decline, and names', async () => {
    const found = await varianceDecline(subject, { panels: 400, seed: 2 });
    expect(found.attributes.map(({ name }) => name)).toEqual(['Num/Pos', 'Type', 'Size', 'Color']);
    const own = [2, 0, 3, 1];
    own.forEach((attribute, m) =>
      found.decline[m].forEach((decline, v) => {
        if (v === attribute) expect(decline).toBeGreaterThan(0.98);
        else expect(Math.abs(decline)).toBeLessThan(0.2);
      }),
    );
    expect(found.names.map(({ name }) => name)).toEqual([
      'Size',
      'Num/Pos',
      'Color',
      'Type',
      'Size + Type',
      'unused',
    ]);
    expect(found.names[0]).toMatchObject({ concept: 1, score: found.decline[0][2] });
  });

  test('declines the same at any scale, while the paper’s ratio changes its sign', async () => {
    const scaled = (factor: number) =>
      varianceDecline(
        madeUpSubject({
          configuration: 'grid-2x2',
          concepts: 6,
          size: SIZE,
          encode: (picture) => encode(picture).map((values) => values.map((v) => factor * v)),
        }),
        { panels: 150, seed: 2 },
      );
    const [small, large] = [await scaled(0.002), await scaled(2)];
    for (let m = 0; m < 5; m++) {
      for (let v = 0; v < 4; v++) {
        expect(small.decline[m][v]).toBeCloseTo(large.decline[m][v], 3);
      }
    }
    // A ratio of logarithms: below 1 where they are positive, above 1 where both are negative.
    expect(large.paperRatio[0][2]).toBeLessThan(1);
    expect(small.paperRatio[0][2]).toBeGreaterThan(1);
  });
});

test('rotation is an attribute where it varies', async () => {
  const see = recogniser('center');
  const subject = madeUpSubject({
    concepts: 2,
    size: SIZE,
    encode: (picture) => {
      const [{ angle, type }] = see(picture);
      return [code(angle, 0), code(type, 1)];
    },
  });
  const { attributes, names } = await varianceDecline(subject, { panels: 400, seed: 2 });
  expect(attributes.map(({ name }) => name)).toEqual(['Type', 'Size', 'Color', 'Rotation']);
  // How far a figure is turned cannot be seen of circles: the concept declines with Type as well.
  expect(names[0].name).toBe('Rotation');
  expect(names[1].name).toBe('Type');
});

describe('names', () => {
  const attributes = [{ name: 'Type' }, { name: 'Size' }];
  const named = (rows: number[][], variance = rows.map(() => 1)): string[] =>
    nameConcepts(attributes, variance, rows).map(({ name }) => name);

  test('go by what dominates, however little it takes of the variance', () => {
    expect(
      named([
        [0.24, 0.01],
        [0.04, 0],
        [0.41, 0.6],
        [0.1, 0.9],
      ]),
    ).toEqual(['Type', 'mixed', 'Size + Type', 'Size']);
  });

  test('of three attributes are no name', () => {
    const three = [{ name: 'Type' }, { name: 'Size' }, { name: 'Color' }];
    const [found] = nameConcepts(three, [1], [[0.3, 0.2, 0.25]]);
    expect(found.name).toBe('mixed');
  });

  test('are not given to concepts that hardly vary', () => {
    const rows = [
      [0.9, 0],
      [0.9, 0],
    ];
    expect(named(rows, [10, 0.09])).toEqual(['Type', 'unused']);
    expect(named(rows, [10, 0.11])).toEqual(['Type', 'Type']);
  });
});

test('stops when told to', async () => {
  const options = { panels: 20, signal: AbortSignal.abort() };
  await expect(varianceDecline(madeUpSubject(), options)).rejects.toThrow(/abort/i);
});
