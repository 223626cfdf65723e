import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  alphasWithout,
  cronbachAlpha,
  intervalWords,
  columnOf,
  reliability,
  restOf,
  totalsOf,
} from '../../../src/lab/grade/statistics.js';
import { correlation } from '../../../src/lab/statistics.js';

/** Five people, four items; worked out by hand. */
const TABLE = [
  [1, 1, 1, 1],
  [1, 1, 1, 0],
  [1, 1, 0, 0],
  [1, 0, 0, 0],
  [0, 0, 0, 0],
];

describe('classical test theory', () => {
  test('alpha of a Guttman scale of four items is 0.8', () => {
    // p = .8, .6, .4, .2: sum of p q = .16 + .24 + .24 + .16 = .8; variance of 0..4 is 2; 4/3 (1 - .8/2).
    expect(cronbachAlpha(TABLE)).toBeCloseTo(0.8, 12);
  });

  test('alpha equals KR-20 of shares and population variance', () => {
    const tables = fc
      .tuple(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 2, max: 9 }))
      .chain(([people, items]) =>
        fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: items, maxLength: items }), {
          minLength: people,
          maxLength: people,
        }),
      );
    fc.assert(
      fc.property(tables, (table) => {
        const n = table.length;
        const k = table[0].length;
        const totals = table.map((row) => row.reduce((a, b) => a + b, 0));
        const mean = totals.reduce((a, b) => a + b, 0) / n;
        const variance = totals.reduce((sum, total) => sum + (total - mean) ** 2, 0) / n;
        const parts = Array.from({ length: k }, (_, i) => {
          const p = table.reduce((sum, row) => sum + row[i], 0) / n;
          return p * (1 - p);
        });
        const kr20 = (k / (k - 1)) * (1 - parts.reduce((a, b) => a + b, 0) / variance);
        const alpha = cronbachAlpha(table);
        if (variance === 0) expect(alpha).toBeNull();
        else expect(alpha).toBeCloseTo(kr20, 9);
      }),
    );
  });

  test('alpha without an item is alpha of the table without its column', () => {
    const without = alphasWithout(TABLE);
    TABLE[0].forEach((_, item) => {
      const rest = cronbachAlpha(TABLE.map((row) => row.filter((_, i) => i !== item)));
      expect(without[item]).toBeCloseTo(rest ?? NaN, 12);
    });
  });

  test('discrimination leaves the item itself out', () => {
    // Item 2 is 1,1,1,0,0; the others sum to 3,2,1,1,0: covariance .3 * 2 ... by the formula of Pearson.
    const own = [1, 1, 1, 0, 0];
    const rest = [3, 2, 1, 1, 0];
    const mo = 0.6;
    const mr = 1.4;
    const top = own.reduce((sum, x, i) => sum + (x - mo) * (rest[i] - mr), 0);
    const left = Math.sqrt(own.reduce((sum, x) => sum + (x - mo) ** 2, 0));
    const right = Math.sqrt(rest.reduce((sum, x) => sum + (x - mr) ** 2, 0));
    const found = correlation(columnOf(TABLE, 1), restOf(TABLE, totalsOf(TABLE), 1));
    expect(found).toBeCloseTo(top / (left * right), 12);
    expect(correlation(own, totalsOf(TABLE))).toBeGreaterThan(top / (left * right));
  });

  test('what does not exist is null, not a number', () => {
    expect(cronbachAlpha([[1, 0, 1]])).toBeNull();
    expect(cronbachAlpha([[1], [0]])).toBeNull();
    expect(
      reliability([
        [1, 1],
        [1, 1],
      ]),
    ).toBeNull();
    expect(correlation([1, 1, 1], [1, 2, 3])).toBeNull();
    expect(alphasWithout([[1, 0]])).toEqual([null, null]);
  });

  test('the interval of alpha holds it and is the same every time', () => {
    const table = Array.from({ length: 6 }, () => TABLE).flat();
    const found = reliability(table);
    expect(found).not.toBeNull();
    expect(found?.low).toBeLessThan(0.8);
    expect(found?.high).toBeGreaterThan(0.8);
    expect(reliability(table)).toEqual(found);
  });

  test('too few respondents give alpha no interval', () => {
    const people = (count: number) =>
      reliability(Array.from({ length: count }, (_, r) => TABLE[r % TABLE.length]));
    expect(people(19)).toMatchObject({ low: null, high: null });
    expect(people(20)?.high).not.toBeNull();
    const two = reliability([
      [1, 1, 0],
      [1, 0, 0],
    ]);
    expect(two?.value).toBeLessThan(1);
    expect(two?.high).toBeNull();
    expect(two && intervalWords(two)).toMatch(/no interval.* 20 respondents/);
  });
});
