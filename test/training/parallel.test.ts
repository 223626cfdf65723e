import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { distributedBackends } from '../../src/torch/index.js';
import { openRun } from '../../src/training/index.js';
import { problemIndexer } from '../../src/training/feed/problem-plan.js';
import { EpochOrder } from '../../src/training/feed/order.js';
import { scratchFolder } from '../scratch-folder.js';
import type { ChildSpec } from './parallel-child.js';
import { rankStarter } from './parallel-ranks.js';

/** The rule prior takes part from the first refit on, with a weight that shows. */
const MODEL = {
  objective: {
    priorWeight: {
      unit: 'steps',
      shape: 'linear',
      points: [
        [0, 0],
        [3, 0.01],
      ],
    },
  },
};

const folder = scratchFolder();
const start = rankStarter();

interface Trained {
  readonly losses: Record<string, number>[];
  readonly weights: string[];
}

/** Trains in one process or in several; the terms of every step and each rank's weights at the end. */
async function trained(spec: ChildSpec, size: number): Promise<Trained> {
  const ranks = await start(spec, size);
  const ends = await Promise.all(
    ranks.map((rank) => rank.line((line) => 'weights' in line || 'failure' in line)),
  );
  for (const end of ends) expect(end.failure).toBeUndefined();
  for (const { code } of await Promise.all(ranks.map(({ end }) => end))) expect(code).toBe(0);
  const losses = ranks[0].lines
    .filter((line) => 'terms' in line)
    .map((line) => line.terms as Record<string, number>);
  return { losses, weights: ends.map((end) => end.weights as string) };
}

function worstOf(actual: Trained, expected: Trained, term: string, from = 0): number {
  const wanted = expected.losses.slice(from);
  expect(actual.losses.length).toBe(wanted.length);
  const errors = actual.losses.map((terms, step) => {
    const difference = Math.abs(terms[term] - wanted[step][term]);
    return difference === 0 ? 0 : difference / Math.abs(wanted[step][term]);
  });
  return Math.max(...errors);
}

const specOf = (name: string, changes: ChildSpec['changes']): ChildSpec => ({
  out: path.join(folder, name),
  model: MODEL,
  changes,
});

/** Bytes of the panels of all snapshots of a run, after 0, 3, 15 and 50 steps. */
async function paintedIn(name: string): Promise<number[]> {
  const snapshots = await (await openRun(path.join(folder, name))).rules();
  return snapshots.flatMap(({ imagined = '' }) => [...Buffer.from(imagined, 'base64')]);
}

describe('which problems a rank makes', () => {
  test('its part of what one process with a pool would show in every step', () => {
    const [pool, refresh, batchSize, seed] = [10, 2.5, 4, 7];
    // One process: problem i goes to slot i mod pool, and a step reads slots.
    const slots = Array.from({ length: pool }, (_, index) => index);
    let produced = pool;
    const order = new EpochOrder(seed, pool);
    const parts = [0, 2].map((first) =>
      problemIndexer({
        kind: 'batch',
        seed,
        pool,
        refresh,
        batchSize,
        part: { first, count: 2 },
      }),
    );
    for (let step = 0; step < 40; step++) {
      for (; produced < pool + Math.floor(step * refresh); produced++) {
        slots[produced % pool] = produced;
      }
      const shown = Array.from(
        { length: batchSize },
        (_, n) => slots[order.slotOf(step * batchSize + n)],
      );
      const made = parts.flatMap((indexOf) => [indexOf(step * 2), indexOf(step * 2 + 1)]);
      expect(made).toEqual(shown);
    }
  });

  test('for pools of their own, every problem exactly once', () => {
    const made = [0, 1, 2].flatMap((rank) => {
      const indexOf = problemIndexer({ kind: 'stride', rank, ranks: 3 });
      return [0, 1, 2, 3].map(indexOf);
    });
    expect(made.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i));
  });

  test('without a plan, the stream as it is', () => {
    expect([0, 5, 9].map(problemIndexer(undefined))).toEqual([0, 5, 9]);
  });
});

describe.skipIf(!distributedBackends().includes('gloo'))('several processes', () => {
  const double = { precision: 'f64', budget: { kind: 'steps', steps: 50 } } as const;
  let alone: Trained;

  test('one process, as the reference', async () => {
    alone = await trained(specOf('alone', double), 1);
    expect(alone.losses).toHaveLength(50);
    // The prior's term takes part, so that its gathering is put to the test as well.
    expect(alone.losses.filter(({ rulePrior }) => rulePrior !== 0).length).toBeGreaterThan(40);
  });

  test.each([2, 4])('%i ranks compute what one process does', async (size) => {
    const team = await trained(specOf(`team-${size}`, double), size);
    for (const term of Object.keys(alone.losses[0])) {
      expect(worstOf(team, alone, term)).toBeLessThan(1e-8);
    }
    expect(new Set(team.weights).size).toBe(1);
    const judgements = await Promise.all(
      ['alone', `team-${size}`].map(async (name) => {
        const lines = await (await openRun(path.join(folder, name))).metrics();
        return lines
          .filter(({ kind }) => kind === 'validation')
          .map(({ wall: _, ...rest }) => rest);
      }),
    );
    expect(judgements[0].length).toBeGreaterThan(2);
    expect(judgements[1]).toEqual(judgements[0]);
    const [one, several] = await Promise.all(['alone', `team-${size}`].map(paintedIn));
    expect([one.length, several.length]).toEqual([4 * 4 * 4096, 4 * 4 * 4096]);
    // The last digits may fall on either side of half a byte.
    const apart = one.map((byte, i) => Math.abs(byte - several[i]));
    expect(Math.max(...apart)).toBeLessThanOrEqual(1);
  });

  test('a run goes on with another number of ranks as if nothing had happened', async () => {
    const first = specOf('moved', { ...double, budget: { kind: 'steps', steps: 50 } });
    // Stopped by a smaller number of steps would change the schedules; so the run is told to stop.
    const ranks = await start(first, 2);
    await ranks[0].line((line) => (line.step as number) >= 21);
    ranks[1].child.kill('SIGTERM');
    const stopped = await Promise.all(ranks.map((rank) => rank.line((line) => 'finished' in line)));
    expect(stopped.map(({ finished }) => finished)).toEqual([false, false]);
    const at = stopped[0].step as number;
    expect(stopped[1].step).toBe(at);
    const resumed = await trained(first, process.env.CRAB_TEST_LONG ? 4 : 1);
    for (const term of Object.keys(alone.losses[0])) {
      expect(worstOf(resumed, alone, term, at)).toBeLessThan(1e-8);
    }
    expect(new Set(resumed.weights).size).toBe(1);
  });

  test('single precision', async () => {
    const single = { precision: 'f32', budget: { kind: 'steps', steps: 10 } } as const;
    const one = await trained(specOf('single-alone', single), 1);
    const two = await trained(specOf('single-team', single), 2);
    expect(worstOf(two, one, 'loss')).toBeLessThan(1e-3);
    expect(new Set(two.weights).size).toBe(1);
  });

  test('with statistics of their own parts, ranks still hold one model', async () => {
    const own = {
      precision: 'f64',
      budget: { kind: 'steps', steps: 6 },
      syncBatchNorm: false,
    } as const;
    const team = await trained(specOf('own-statistics', own), 2);
    expect(new Set(team.weights).size).toBe(1);
    // Another normalisation is another loss: the switch does something.
    expect(Math.abs(team.losses[0].loss / alone.losses[0].loss - 1)).toBeGreaterThan(1e-6);
    const config = JSON.parse(
      await readFile(path.join(folder, 'own-statistics', 'config.json'), 'utf8'),
    ) as { syncBatchNorm: boolean };
    expect(config.syncBatchNorm).toBe(false);
  });

  test('what the first rank cannot do, all are told', async () => {
    const ranks = await start(specOf('uneven', double), 3);
    const failures = await Promise.all(ranks.map((rank) => rank.line((line) => 'failure' in line)));
    expect(failures[0].failure).toMatch(
      /^ArgumentError: a batch of 8 problems cannot be shared equally by 3 ranks/,
    );
    for (const { failure } of failures.slice(1)) {
      expect(failure).toMatch(/^ArgumentError: the first rank stopped: a batch of 8 problems/);
    }
    for (const { code } of await Promise.all(ranks.map(({ end }) => end))) expect(code).toBe(1);
  });
});
