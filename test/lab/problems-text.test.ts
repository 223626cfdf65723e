import { describe, expect, test } from 'vitest';
import { conditionsOf } from '../../src/lab/conditions.js';
import { problemsText } from '../../src/lab/problems-text.js';
import { madeUpSubject } from './made-up.js';

const { facts } = madeUpSubject();
const set = (seed?: number) => ({ data: 'd', variant: null, count: 9, seed });
const told = (seeds: readonly (number | undefined)[], fromData: number, generated: number) =>
  problemsText({ data: seeds.map(set) }, { fromData, generated, seed: 3 });

describe('problems that something was measured on', () => {
  test('are all fresh where nobody gave data', () => {
    expect(told([7, 7], 60, 0)).toBe('60 fresh problems (seed 7)');
    expect(told([7, 7], 60, 4)).toBe('64 fresh problems (seeds 7 and 3)');
    expect(told([], 0, 1)).toBe('1 fresh problem (seed 3)');
  });

  test('are of the data where they were given', () => {
    expect(told([undefined], 1, 0)).toBe('1 problem of the data');
    expect(told([undefined], 1200, 28)).toBe(
      '1,200 problems of the data and 28 fresh ones (seed 3)',
    );
    expect(told([7, undefined], 12, 0)).toBe('12 problems of the data, given and fresh');
  });

  test('are as many for pictures as for the rest, if a number is asked for', () => {
    expect(conditionsOf(facts, {}).pictures).toBe(500);
    expect(conditionsOf(facts, { problems: 60 }).pictures).toBe(60);
    expect(conditionsOf(facts, { problems: 5000 }).pictures).toBe(5000);
    expect(conditionsOf(facts, { problems: 60, pictures: 80 }).pictures).toBe(80);
  });
});
