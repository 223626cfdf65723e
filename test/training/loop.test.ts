import { describe, expect, test } from 'vitest';
import { crabConfig } from '../../src/models/index.js';
import type { RunConfig } from '../../src/training/config.js';
import { DivergedError } from '../../src/training/errors.js';
import { initialState, type LoopState } from '../../src/training/loop-state.js';
import { TrainingLoop, type Training } from '../../src/training/loop.js';
import { runConfigOf, type NewRunOptions } from '../../src/training/options.js';
import type { StepEvent } from '../../src/training/observer.js';
import type { MetricsLine } from '../../src/training/run/logs.js';

const BATCH = 4;

const configOf = (changes: Partial<NewRunOptions> = {}): RunConfig =>
  runConfigOf(
    {
      out: 'nowhere',
      model: crabConfig('small', 'center', { overrides: { optimizer: { batchSize: BATCH } } }),
      budget: { kind: 'steps', steps: 60 },
      seed: 1,
      logEvery: 10,
      validation: { every: 25, problems: 8 },
      snapshots: { problems: 3, moments: [0.1, 0.5], steps: [] },
      ...changes,
    },
    { software: {}, threads: 1 },
    null,
  );

type Stepper = Training['stepper'];

interface World {
  readonly parts: Training;
  readonly lines: MetricsLine[];
  /** What happened, in order. */
  readonly events: string[];
  readonly blocks: [number, number][];
}

/** A world whose clock moves by the second a step takes; accuracies are given by step. */
function world(config: RunConfig, changes: Partial<Stepper> & { accuracy?: number[] } = {}): World {
  const lines: MetricsLine[] = [];
  const events: string[] = [];
  const blocks: [number, number][] = [];
  const accuracy = [...(changes.accuracy ?? [])];
  let clock = 100;
  let first = 0;
  const stepper: Stepper = {
    terms: ['loss', 'target'],
    blockSteps: 8,
    begin: (from) => {
      first = from;
    },
    step: () => {
      clock += 1;
      return Promise.resolve();
    },
    finish: (count) => {
      blocks.push([first, count]);
      return Promise.resolve(
        Float32Array.from({ length: count * 2 }, (_, n) => first + Math.floor(n / 2) + (n % 2) / 2),
      );
    },
    isFinite: () => true,
    learningRateAt: () => 0.5,
    ...changes,
  };
  const parts: Training = {
    config,
    stepper,
    observer: {},
    epochSize: 40,
    feedReport: () => ({ uses: 1, milliseconds: 0, share: 0 }),
    validate: () => {
      clock += 5;
      const score = accuracy.shift() ?? 0.5;
      return Promise.resolve({
        selectionAccuracy: { raven: score, 'i-raven': score },
        globalSelectionAccuracy: score,
      });
    },
    keepBest: (step) => events.push(`best ${step}`),
    snapshotRules: (step) => {
      events.push(`rules ${step}`);
      return Promise.resolve();
    },
    log: (line) => lines.push(line),
    checkpoint: (state) => events.push(`checkpoint ${state.step}`),
    fixTotal: (total) => events.push(`total ${total}`),
    flush: () => Promise.resolve(),
    checkpointOnDisk: 20,
    now: () => clock,
    startedAt: clock,
  };
  return { parts, lines, events, blocks };
}

/** Lines without what may differ between equal runs. */
const comparable = (lines: readonly MetricsLine[]): object[] =>
  lines.map(({ wall: _wall, ...rest }) => rest);

/** The steps whose weights were kept as the best, and what the state says of them, for given accuracies. */
async function bestOf(
  accuracy: number[],
  problems: number,
  state = initialState(10 * accuracy.length),
): Promise<{ kept: string[]; lines: MetricsLine[]; best: LoopState['best'] }> {
  const { parts, lines, events } = world(configOf({ validation: { every: 10, problems } }), {
    accuracy,
  });
  await new TrainingLoop(parts, state).run();
  return { kept: events.filter((event) => event.startsWith('best')), lines, best: state.best };
}

// 100 problems tell accuracies around 0.5 apart to a standard error of 0.05.
describe('the best weights', () => {
  test('of equal scores the later is the best, at 0 and at 1 too', async () => {
    for (const score of [0, 0.5, 1]) {
      const { kept, best, lines } = await bestOf([score, score, score], 100);
      expect(kept).toEqual(['best 10', 'best 20', 'best 30']);
      expect(best).toEqual({ step: 30, score, risen: 10 });
      const validations = lines.filter((line) => line.kind === 'validation');
      expect(validations.map((line) => line.best)).toEqual([true, true, true]);
    }
  });

  test('a score worse by more than the standard error does not replace them', async () => {
    const { kept, best, lines } = await bestOf([0.5, 0.44, 0.3], 100);
    expect(kept).toEqual(['best 10']);
    expect(best).toEqual({ step: 10, score: 0.5, risen: 10 });
    const validations = lines.filter((line) => line.kind === 'validation');
    expect(validations.map((line) => line.best)).toEqual([true, false, false]);
  });

  test('a score worse by less does, unless more problems make the difference plain', async () => {
    const few = await bestOf([0.5, 0.46], 100);
    expect(few.kept).toEqual(['best 10', 'best 20']);
    expect(few.best).toEqual({ step: 20, score: 0.5, risen: 10 });
    const many = await bestOf([0.5, 0.46], 10_000);
    expect(many.best).toEqual({ step: 10, score: 0.5, risen: 10 });
  });

  test('small steps downwards end at the maximum less its error', async () => {
    // Each is within the error of the one before, the last two not of the highest.
    const { kept, best } = await bestOf([0.4, 0.5, 0.48, 0.46, 0.44, 0.42], 100);
    expect(kept).toEqual(['best 10', 'best 20', 'best 30', 'best 40']);
    expect(best).toEqual({ step: 40, score: 0.5, risen: 20 });
  });

  test('a higher score raises the bar, and a run that goes on knows how high it was', async () => {
    const first = await bestOf([0.5, 0.6, 0.56], 100);
    expect(first.best).toEqual({ step: 30, score: 0.6, risen: 20 });
    const state = { ...initialState(50), step: 30, best: first.best };
    const second = await bestOf([0.54, 0.56], 100, state);
    expect(second.kept).toEqual(['best 50']);
    expect(second.best).toEqual({ step: 50, score: 0.6, risen: 20 });
  });
});

describe('patience', () => {
  const validation = { every: 10, problems: 100, patience: 2 };

  test('ends after so many validations without a higher score, as any end does', async () => {
    const config = configOf({ validation, budget: { kind: 'steps', steps: 200 }, logEvery: 7 });
    // An equal score is not a higher one, although its weights are kept.
    const { parts, lines, events } = world(config, { accuracy: [0.5, 0.6, 0.6, 0.59, 0.9] });
    const state = initialState(200);
    expect(await new TrainingLoop(parts, state).run()).toBe(true);
    expect(state).toMatchObject({ step: 40, totalSteps: 40, best: { score: 0.6, risen: 20 } });
    expect(events.slice(-3)).toEqual(['best 40', 'rules 40', 'checkpoint 40']);
    // Steps since the last line are not lost.
    expect(lines.filter(({ kind }) => kind === 'train').at(-1)).toMatchObject({ step: 40 });
  });

  test('a run that goes on remembers how long it has waited', async () => {
    const config = configOf({ validation, budget: { kind: 'steps', steps: 200 } });
    const best = { step: 20, score: 0.6, risen: 20 };
    const state = { ...initialState(200), step: 30, best };
    await new TrainingLoop(world(config, { accuracy: [0.5, 0.9] }).parts, state).run();
    expect(state.step).toBe(40);
  });

  test('a score that rises keeps it going to its end', async () => {
    const config = configOf({ validation });
    const state = initialState(60);
    const accuracy = [0.1, 0.05, 0.2, 0.1, 0.3, 0.2];
    await new TrainingLoop(world(config, { accuracy }).parts, state).run();
    expect(state.step).toBe(60);
  });
});

describe('the loop', () => {
  test('does every step once, and stops blocks where something is due', async () => {
    const snapshots = { problems: 3, moments: [0.1, 0.5], steps: [0, 4, 100] };
    const accuracy = [0.2, 0.6, 0.4];
    const { parts, lines, events, blocks } = world(configOf({ snapshots }), { accuracy });
    expect(await new TrainingLoop(parts, initialState(60)).run()).toBe(true);
    let next = 0;
    for (const [from, count] of blocks) {
      expect(from).toBe(next);
      expect(count).toBeLessThanOrEqual(8);
      next += count;
    }
    expect(next).toBe(60);
    expect(lines.filter(({ kind }) => kind === 'train').map(({ step }) => step)).toEqual([
      10, 20, 30, 40, 50, 60,
    ]);
    expect(lines.filter(({ kind }) => kind === 'validation').map(({ step }) => step)).toEqual([
      25, 50, 60,
    ]);
    expect(events).toEqual([
      'rules 0',
      'rules 4',
      'rules 6',
      'best 25',
      'rules 30',
      'best 50',
      'rules 60',
      'checkpoint 60',
    ]);
  });

  test('a line holds the means since the line before', async () => {
    const { parts, lines } = world(configOf());
    await new TrainingLoop(parts, initialState(60)).run();
    const second = lines.filter(({ kind }) => kind === 'train')[1];
    expect(second).toMatchObject({ step: 20, epoch: 2, learningRate: 0.5 });
    expect(second).toHaveProperty('terms', { loss: 14.5, target: 15 });
  });

  test('stopped anywhere and continued, it writes the same lines', async () => {
    const whole = world(configOf());
    await new TrainingLoop(whole.parts, initialState(60)).run();
    for (const stopAt of [1, 9, 10, 25, 33, 59]) {
      const controller = new AbortController();
      let steps = 0;
      const before = world(configOf(), {
        step: () => {
          if (++steps === stopAt) controller.abort();
          return Promise.resolve();
        },
      });
      let saved = '';
      const parts = {
        ...before.parts,
        checkpoint: (state: LoopState) => {
          saved = JSON.stringify(state);
        },
      };
      expect(await new TrainingLoop(parts, initialState(60)).run(controller.signal)).toBe(false);
      const state = JSON.parse(saved) as LoopState;
      expect(state.step).toBe(stopAt);
      const after = world(configOf());
      expect(await new TrainingLoop(after.parts, state).run()).toBe(true);
      expect(comparable([...before.lines, ...after.lines])).toEqual(comparable(whole.lines));
    }
  });

  test('a time budget becomes a number of steps after the warm-up', async () => {
    const config = configOf({
      budget: { kind: 'time', seconds: 500 },
      validation: { every: 50, problems: 8 },
      snapshots: { problems: 3, moments: [0.1, 0.5], steps: [0, 4, 100] },
    });
    const { parts, events } = world(config);
    const state = initialState(null);
    expect(await new TrainingLoop(parts, state).run()).toBe(true);
    const total = Number(events.find((event) => event.startsWith('total'))?.slice(6));
    // 30 steps of a second, one validation of 5; the rest at 1 + 5/50 seconds a step, less 3%.
    expect(total).toBe(30 + Math.floor(((500 - 35) * 0.97) / 1.1));
    expect(state.step).toBe(total);
    expect(parts.now() - 100).toBeLessThan(500);
    // What is told in steps need not wait for the length.
    const moments = [0, 4, Math.round(total / 10), Math.round(total / 2), 100, total];
    expect(events.filter((event) => event.startsWith('rules'))).toEqual(
      moments.sort((a, b) => a - b).map((step) => `rules ${step}`),
    );
  });

  test('a time budget measures two whole blocks where steps come in blocks', async () => {
    const config = configOf({
      budget: { kind: 'time', seconds: 1000 },
      validation: { every: 1000, problems: 8 },
      logEvery: 1000,
    });
    const { parts } = world(config);
    const stepper: Stepper = { ...parts.stepper, blockSteps: 40 };
    const fixed: [number, number][] = [];
    const fixTotal = (total: number, from: number): void => void fixed.push([total, from]);
    const timed = { ...parts, stepper, fixTotal };
    expect(await new TrainingLoop(timed, initialState(null)).run()).toBe(true);
    // The warm-up of 10 steps, two blocks of 40 and a validation of 5 seconds come first.
    expect(fixed).toEqual([[90 + Math.floor(((1000 - 95) * 0.97) / 1.005), 90]]);
  });

  test('where two blocks would take too long, or a process begins late, it measures otherwise', async () => {
    const config = configOf({
      budget: { kind: 'time', seconds: 500 },
      validation: { every: 1000, problems: 8 },
      logEvery: 1000,
    });
    const fixedFrom = async (step: number, blockSteps: number): Promise<number[]> => {
      // The first five steps of a process take a minute each.
      let begun = 0;
      let slow = 0;
      const made = world(config);
      const { parts } = made;
      const { stepper } = parts;
      const late: Stepper = {
        ...stepper,
        blockSteps,
        step: (index) => {
          if (begun++ < 5) slow += 59;
          return stepper.step(index);
        },
      };
      const known: number[] = [];
      const fixTotal = (_: number, from: number): void => void known.push(from);
      const now = (): number => parts.now() + slow;
      const state = { ...initialState(null), step };
      await new TrainingLoop({ ...parts, stepper: late, now, fixTotal }, state).run();
      return [...known, state.step];
    };
    // 200 of the 500 seconds are too many: 20 do. 300 more went by with the first steps.
    const left = (step: number): number => Math.floor(((500 - step - 295 - 5) * 0.97) / 1.005);
    expect(await fixedFrom(0, 100)).toEqual([30, 30 + left(30)]);
    // Begun late, it looks at twenty steps of its own after ten that are not looked at.
    expect(await fixedFrom(25, 8)).toEqual([55, 55 + left(30)]);
  });

  test('a run that knows the total of its time budget does the first steps as it did before', async () => {
    const config = configOf({
      budget: { kind: 'time', seconds: 75 },
      validation: { every: 50, problems: 8 },
      logEvery: 20,
    });
    // What each step believed the total to be.
    const traced = (): World & { totals: (number | null)[] } => {
      const totals: (number | null)[] = [];
      let believed: number | null = null;
      const made = world(config, { learningRateAt: (step, total) => step / (total ?? Infinity) });
      const { stepper: plain } = made.parts;
      const stepper: Stepper = {
        ...plain,
        begin: (from, total) => {
          believed = total;
          plain.begin(from, total);
        },
        finish: (count) => {
          totals.push(...Array.from({ length: count }, () => believed));
          return plain.finish(count);
        },
      };
      return { ...made, parts: { ...made.parts, stepper }, totals };
    };
    const first = traced();
    const state = initialState(null);
    await new TrainingLoop(first.parts, state).run();
    expect(state.totalSteps).toBeGreaterThan(50);
    const again = traced();
    await new TrainingLoop(again.parts, initialState(state.totalSteps)).run();
    expect(comparable(again.lines)).toEqual(comparable(first.lines));
    expect(first.totals.indexOf(state.totalSteps)).toBe(30);
    expect(again.totals).toEqual(first.totals);
    expect(again.events).toEqual(first.events.filter((event) => !event.startsWith('total')));
  });

  test('a time budget that the measurement uses up ends with a line and a validation', async () => {
    const config = configOf({ budget: { kind: 'time', seconds: 5 }, logEvery: 20 });
    const { parts, lines, events } = world(config);
    const told: (number | null)[] = [];
    const observer = { step: (event: StepEvent) => void told.push(event.secondsLeft) };
    expect(await new TrainingLoop({ ...parts, observer }, initialState(null)).run()).toBe(true);
    // Nobody is told that no time is left while the steps that are left are not known.
    expect(told.length).toBeGreaterThan(1);
    expect(new Set(told)).toEqual(new Set([null]));
    expect(events).toContain('total 30');
    expect(lines.map(({ kind, step }) => `${kind} ${step}`)).toEqual([
      'train 20',
      'validation 25',
      'train 30',
      'validation 30',
    ]);
  });

  test('a loss that is not finite stops it, with step and term, before anything is kept', async () => {
    const config = configOf({ checkpoints: { seconds: 1e6, steps: 5 } });
    const { parts, events } = world(config, {
      finish: (count) =>
        Promise.resolve(Float32Array.from({ length: count * 2 }, (_, n) => (n === 5 ? NaN : 1))),
    });
    const run = new TrainingLoop(parts, initialState(60)).run();
    await expect(run).rejects.toThrow(DivergedError);
    await expect(run).rejects.toMatchObject({ step: 2, term: 'target', checkpointStep: 20 });
    expect(events).toEqual([]);
  });

  test('the part of the loss is named that makes it not finite, not the loss', async () => {
    const blamedFor = (...row: number[]): Promise<unknown> => {
      const finish = (count: number) =>
        Promise.resolve(Float32Array.from({ length: count * 2 }, (_, n) => row[n % 2]));
      return new TrainingLoop(world(configOf(), { finish }).parts, initialState(60)).run();
    };
    await expect(blamedFor(NaN, Infinity)).rejects.toMatchObject({
      term: 'target',
      value: Infinity,
    });
    await expect(blamedFor(Infinity, 1)).rejects.toMatchObject({ term: 'loss', value: Infinity });
  });

  test('weights that are not finite are never stored', async () => {
    const config = configOf({ checkpoints: { seconds: 1e6, steps: 5 } });
    const { parts, events } = world(config, { isFinite: () => false });
    const run = new TrainingLoop(parts, initialState(60)).run();
    await expect(run).rejects.toMatchObject({ term: 'weights', step: 4 });
    expect(events).toEqual([]);
  });

  test('checkpoints by the clock and by steps', async () => {
    const byClock = world(configOf({ checkpoints: { seconds: 20 } }));
    await new TrainingLoop(byClock.parts, initialState(60)).run();
    const steps = byClock.events.filter((event) => event.startsWith('checkpoint'));
    expect(steps.length).toBeGreaterThanOrEqual(3);
    const bySteps = world(configOf({ checkpoints: { seconds: 1e6, steps: 30 } }));
    await new TrainingLoop(bySteps.parts, initialState(60)).run();
    expect(bySteps.events.filter((event) => event.startsWith('checkpoint'))).toEqual([
      'checkpoint 30',
      'checkpoint 60',
    ]);
  });
});
