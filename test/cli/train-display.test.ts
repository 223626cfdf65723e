/** What a training shows of itself while it runs. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Display } from '../../src/cli/train-display.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('one time left, the one that counts validations', () => {
  const said: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  const display = new Display(false);
  const start = { run: 'r', device: 'cpu', step: 0, totalSteps: 100, batchSize: 8, ranks: 1 };
  display.start?.({ ...start, parameters: 1e6 });
  vi.advanceTimersByTime(10_000);
  const terms = { reconstruction: 1 };
  const event = { step: 50, totalSteps: 100, terms, problemsPerSecond: 40, feed: null };
  display.step?.({ ...event, secondsLeft: 25 });
  display.stop();
  expect(said.at(-1)).toBe('50/100 steps, 5.0/s, 25 s left | rec 1.00 | 40 problems/s\n');
});
