/** What a training shows of itself while it runs. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Display } from '../../src/cli/train-display.js';

let said: string;
beforeEach(() => {
  said = '';
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const START = {
  run: 'runs/a',
  device: 'cpu',
  step: 0,
  totalSteps: 100,
  batchSize: 8,
  parameters: 2_200_000,
  ranks: 1,
};

/** What is said before, at and after the start. */
function show(quiet: boolean): string {
  const display = new Display(quiet);
  display.note?.({ level: 'warning', text: 'early warning' });
  display.start?.(START);
  display.note?.({ level: 'warning', text: 'late warning' });
  display.note?.({ level: 'info', text: 'a fact' });
  display.stop();
  return said;
}

test('--quiet leaves warnings, whenever they come, and nothing else', () => {
  expect(show(true)).toBe('early warning\nlate warning\n');
});

test('otherwise all is said', () => {
  for (const part of ['early warning', '2.2 million weights on cpu', 'late warning', 'a fact']) {
    expect(show(false)).toContain(part);
  }
});

test('one time left, the one that counts validations', () => {
  const display = new Display(false);
  display.start?.(START);
  vi.advanceTimersByTime(10_000);
  const terms = { reconstruction: 1 };
  const event = { step: 50, totalSteps: 100, terms, problemsPerSecond: 40, feed: null };
  display.step?.({ ...event, secondsLeft: 25 });
  display.stop();
  expect(said.trim().split('\n').at(-1)).toBe(
    '50/100 steps, 5.0/s, 25 s left | rec 1.00 | 40 problems/s',
  );
});

/** The last line that is shown of a step, so many seconds after the start. */
function lineAt(
  display: Display,
  seconds: number,
  step: number,
  totalSteps: number | null,
): string {
  vi.advanceTimersByTime(seconds * 1000);
  display.step?.({
    step,
    totalSteps,
    terms: {},
    problemsPerSecond: 40,
    secondsLeft: null,
    feed: null,
  });
  return said.trim().split('\n').at(-1) ?? '';
}

test('a resumed run counts all of its steps, and its rate those of this process', () => {
  const display = new Display(false);
  display.start?.({ ...START, step: 30, totalSteps: 60 });
  expect(lineAt(display, 10, 55, 60)).toMatch(/^55\/60 steps, 2\.5\/s, 2 s left/);
});

test('no time left is told, and the rate does not jump, until the length of the run is known', () => {
  const display = new Display(false);
  display.start?.({ ...START, totalSteps: null });
  expect(lineAt(display, 10, 25, null)).toMatch(/^25\/\? steps, 2\.5\/s \|/);
  expect(lineAt(display, 10, 50, 100)).toMatch(/^50\/100 steps, 2\.5\/s, 20 s left/);
});

test('the bar of a terminal says the same', () => {
  const isTTY = process.stderr.isTTY;
  process.stderr.isTTY = true;
  try {
    const display = new Display(false);
    display.start?.({ ...START, step: 30, totalSteps: 60 });
    lineAt(display, 10, 55, 60);
    display.stop();
    expect(said).toMatch(/91% \| 55\/60 steps \| 2\.5\/s \| 2 s left \|/);
    display.start?.({ ...START, totalSteps: null });
    lineAt(display, 10, 25, null);
    display.stop();
    expect(said).toMatch(/0% \| 25\/\? steps \| 2\.5\/s \|/);
  } finally {
    process.stderr.isTTY = isTTY;
  }
});
