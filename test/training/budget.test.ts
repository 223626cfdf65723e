import { describe, expect, test } from 'vitest';
import {
  parseDuration,
  requireBudget,
  SpeedMeasurement,
  stepsOfEpochs,
  stepsOfTime,
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

  test('a budget is handed on as it is', () => {
    const budget = { kind: 'epochs', epochs: 0.5 } as const;
    expect(requireBudget(budget)).toBe(budget);
  });

  test('steps that come in blocks are measured over two of them, others over twenty', () => {
    const marks = ([first, block]: [number, number]) => new SpeedMeasurement(first, block);
    expect(marks([0, 1])).toMatchObject({ from: 10, least: 30, full: 30 });
    expect(marks([150, 100])).toMatchObject({ from: 160, least: 180, full: 360 });
  });

  test('the first steps of a process are not measured', () => {
    const measurement = new SpeedMeasurement(5, 100);
    measurement.add(5, 10, 1000);
    measurement.add(15, 20, 10);
    expect(measurement.secondsPerStep).toBe(0.5);
    // 200 steps would take 100 seconds.
    expect([900, 1100].map((budget) => measurement.isTooLong(budget))).toEqual([true, false]);
  });

  test('a time budget counts what has passed and leaves room for validation', () => {
    expect(stepsOfTime(100, 10, 30, 0.5, 0)).toBe(30 + 180);
    expect(stepsOfTime(100, 10, 30, 0.5, 0.1)).toBe(30 + 162);
    expect(stepsOfTime(100, 200, 30, 0.5, 0.1)).toBe(30);
  });
});
