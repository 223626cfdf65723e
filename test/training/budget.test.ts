import { describe, expect, test } from 'vitest';
import {
  parseDuration,
  requireBudget,
  stepsOfEpochs,
  stepsOfTime,
  stepsUntilFixed,
} from '../../src/training/budget.js';

describe('how long a run is', () => {
  test.each([
    ['90s', 90],
    ['20m', 1200],
    ['20min', 1200],
    ['1.5h', 5400],
    ['1h30m', 5400],
    ['1h 30m'.replace(' ', ''), 5400],
    ['20', 1200],
  ])('%s', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each(['', 'm', '20x', '-5m', '0s', '1h30', 'twenty minutes', '5mm'])(
    'refuses "%s"',
    (text) => {
      expect(() => parseDuration(text)).toThrow(/expected a duration such as/);
    },
  );

  test('epochs become steps that use every problem that often', () => {
    expect(stepsOfEpochs(2, 6000, 512)).toBe(24);
    expect(stepsOfEpochs(1, 10, 512)).toBe(1);
    expect(() => stepsOfEpochs(0, 10, 512)).toThrow(/epochs: expected a number above 0, got 0/);
    expect(() => stepsOfEpochs(NaN, 10, 512)).toThrow(/above 0/);
    expect(() => stepsOfEpochs(1e308, 64, 32)).toThrow(/epochs: 1e\+308 .* too many steps/);
  });

  test.each([
    [{ kind: 'steps', steps: 0 }, 'steps: expected a whole number from 1, got 0'],
    [{ kind: 'steps', steps: 2.5 }, 'steps: expected a whole number from 1, got 2.5'],
    [{ kind: 'epochs', epochs: -1 }, 'epochs: expected a number above 0, got -1'],
    [{ kind: 'time', seconds: NaN }, 'seconds: expected a number above 0, got NaN'],
    [{ kind: 'time', seconds: Infinity }, 'seconds: expected a number above 0, got Infinity'],
  ] as const)('%j is no budget', (budget, sentence) => {
    expect(() => requireBudget(budget)).toThrow(sentence);
  });

  test('steps that come in blocks are measured over two of them, others over twenty', () => {
    const budget = { kind: 'epochs', epochs: 0.5 } as const;
    expect(requireBudget(budget)).toBe(budget);
    expect([1, 100].map(stepsUntilFixed)).toEqual([30, 210]);
  });

  test('a time budget counts what has passed and leaves room for validation', () => {
    expect(stepsOfTime(100, 10, 30, 0.5, 0)).toBe(30 + 180);
    expect(stepsOfTime(100, 10, 30, 0.5, 0.1)).toBe(30 + 162);
    expect(stepsOfTime(100, 200, 30, 0.5, 0.1)).toBe(30);
  });
});
