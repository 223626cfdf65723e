/** Other tasks of the panels of problems, resizers by name, and the files of `crab arrays`. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  downscale,
  encodeSet,
  formatLabel,
  joinBatches,
  MATRIX_PANELS,
  problemToBatch,
  readNpz,
  renderPanel,
  RESIZERS,
  resize,
  layoutOf,
  samplePanels,
  sampleProblem,
  SMALL_PIXELS,
  taskArrays,
  TASKS,
  unicodeArray,
  writeNpz,
  type NpyArray,
  type SetBatch,
  type Task,
  type TaskOptions,
} from '../../src/matrix/index.js';
import { writeRavenProblem } from '../../src/matrix/node.js';
import { crabInProcess, failureOf } from '../cli/crab-in-process.js';
import { interruptAtWork } from '../cli/interrupt.js';
import { words } from '../cli/words.js';
import { scratchFolder } from '../scratch-folder.js';
import { goodnessOfFit } from './chi-square.js';

const COUNT = 30;
const problems = Array.from({ length: COUNT }, (_, index) =>
  sampleProblem({ configuration: 'center', variant: 'i-raven', seed: 5, index }),
);
const singles = problems.map(problemToBatch);
const batch = joinBatches(singles);

const arraysOf = (task: Task, options?: TaskOptions): Record<string, NpyArray> =>
  Object.fromEntries(taskArrays(batch, task, options));

const picture = (array: NpyArray, index: number): Buffer =>
  Buffer.from(
    (array.data as Uint8Array).subarray(index * SMALL_PIXELS, (index + 1) * SMALL_PIXELS),
  );
const panelAt = (n: number, i: number): Buffer =>
  Buffer.from(singles[n].panel.subarray(i * SMALL_PIXELS, (i + 1) * SMALL_PIXELS));
const candidateAt = (n: number, i: number): Buffer =>
  Buffer.from(singles[n].selection.subarray(i * SMALL_PIXELS, (i + 1) * SMALL_PIXELS));
const numbers = (array: NpyArray): number[] => Array.from(array.data as BigInt64Array, Number);

test('odd one out: the first wrong candidate in the place of the answer', () => {
  const { panel, answer } = arraysOf('odd-one-out');
  expect(panel.shape).toEqual([COUNT, 9, 64, 64]);
  expect(numbers(answer)).toEqual(Array(COUNT).fill(8));
  for (let n = 0; n < COUNT; n++) {
    const wrong = problems[n].target === 0 ? 1 : 0;
    expect(picture(panel, n * 9 + 8)).toEqual(candidateAt(n, wrong));
    expect(picture(panel, n * 9 + 2)).toEqual(panelAt(n, 2));
  }
});

test('analogy: rows 2 and 3, the candidates as they are', () => {
  const { panel, selection, answer } = arraysOf('analogy');
  expect([panel.shape, selection.shape]).toEqual([
    [COUNT, 5, 64, 64],
    [COUNT, 8, 64, 64],
  ]);
  expect(numbers(answer)).toEqual(batch.answer);
  expect(picture(panel, 3 * 5)).toEqual(panelAt(3, 3));
  expect(picture(panel, 3 * 5 + 4)).toEqual(panelAt(3, 7));
});

test('two sets: each is completed by panel 6 or by the answer', () => {
  const { panel, selection, answer } = arraysOf('two-sets');
  expect(panel.shape).toEqual([COUNT, 2, 5, 64, 64]);
  expect(numbers(answer).slice(0, 4)).toEqual([0, 1, 0, 1]);
  expect(picture(panel, 10 * 2)).toEqual(panelAt(2, 0));
  expect(picture(panel, 10 * 2 + 5)).toEqual(panelAt(2, 3));
  expect([picture(selection, 4), picture(selection, 5)]).toEqual([panelAt(2, 5), panelAt(2, 8)]);
});

describe('positions', () => {
  test('the true panels stand at their place among those of other problems', () => {
    const options = { targets: 2, foreign: 5, group: 12, seed: 3 };
    const { missing, selection, answer } = arraysOf('positions', options);
    expect(selection.shape).toEqual([COUNT, 6, 2, 64, 64]);
    const places = numbers(missing);
    numbers(answer).forEach((right, n) => {
      const own = places.slice(2 * n, 2 * n + 2);
      const offered = Array.from({ length: 6 }, (_, c) =>
        [0, 1].map((t) => picture(selection, (n * 6 + c) * 2 + t)),
      );
      expect(offered[right]).toEqual(own.map((place) => panelAt(n, place)));
      // The others are panels of other problems of the group, at the same places, none twice.
      const group = n < 12 ? [0, 12] : n < 24 ? [12, 24] : [24, 30];
      const sources = offered.map((pair) => {
        for (let p = group[0]; p < group[1]; p++) {
          if (own.every((place, t) => pair[t].equals(panelAt(p, place)))) return p;
        }
        return -1;
      });
      expect(sources).not.toContain(-1);
    });
    // The same positions for a whole group.
    expect(new Set(places.slice(0, 24).map((place, i) => `${i % 2} ${place}`)).size).toBe(2);
  });

  test('positions are equally likely, the right place too', () => {
    const seen = Array<number>(9).fill(0);
    const right = Array<number>(4).fill(0);
    for (let seed = 0; seed < 200; seed++) {
      const { missing, answer } = arraysOf('positions', { foreign: 3, group: 30, seed });
      seen[numbers(missing)[0]]++;
      right[numbers(answer)[seed % COUNT]]++;
    }
    expect(goodnessOfFit(seen, Array<number>(9).fill(1 / 9))).toBeGreaterThan(0.001);
    expect(goodnessOfFit(right, Array<number>(4).fill(1 / 4))).toBeGreaterThan(0.001);
  });

  test('too many are refused', () => {
    expect(() => arraysOf('positions', { foreign: 30 })).toThrow(/foreign must be from 1 to 29/);
    expect(() => arraysOf('positions', { targets: 9 })).toThrow(/targets must be/);
  });
});

describe('resizers', () => {
  const layout = layoutOf('out-in-grid');
  const { panels } = samplePanels({ configuration: 'out-in-grid', seed: 1, index: 0 });
  const image = renderPanel(layout, panels[0]);

  test('ours is the scaling of sets', () => {
    const small = new Uint8Array(64 * 64);
    downscale(image, small);
    expect(Buffer.compare(resize(image, 160, 64), small)).toBe(0);
  });

  test('area at half the size is the mean of four', () => {
    const half = resize(image, 160, 80, 'area');
    const corner = 40 * 2 * 160 + 30 * 2;
    const mean =
      (image[corner] + image[corner + 1] + image[corner + 160] + image[corner + 161]) / 4;
    expect(half[40 * 80 + 30]).toBe(Math.floor(mean + 0.5));
  });

  test('nearest only repeats pixels', () => {
    const half = resize(image, 160, 80, 'nearest');
    expect(half[40 * 80 + 30]).toBe(image[80 * 160 + 60]);
    const values = new Set(image);
    for (const value of half) expect(values.has(value)).toBe(true);
  });

  test('area and antialias are as numpy and scipy have them', () => {
    const golden = JSON.parse(
      readFileSync(path.join(import.meta.dirname, 'golden/resize.json'), 'utf8'),
    ) as { side: number; image: number[] } & Record<'area' | 'antialias', Record<string, number[]>>;
    for (const resizer of ['area', 'antialias'] as const) {
      for (const to of [16, 20]) {
        const found = resize(Uint8Array.from(golden.image), golden.side, to, resizer);
        const off = golden[resizer][to].map((value, i) => Math.abs(value - found[i]));
        // The two programs add in another order: a value on the edge may round the other way.
        expect(Math.max(...off), `${resizer} ${to}`).toBeLessThanOrEqual(1);
        expect(off.filter((each) => each > 0).length).toBeLessThan(0.01 * off.length);
      }
    }
  });

  test('all keep paper white and agree on what is flat', () => {
    const paper = new Uint8Array(160 * 160).fill(255);
    for (const resizer of RESIZERS) {
      expect(resize(paper, 160, 80, resizer).every((value) => value === 255)).toBe(true);
      expect(resize(paper, 160, 224, resizer)).toHaveLength(224 * 224);
    }
  });
});

test('a set made part by part is the file of all of it at once', async () => {
  const folder = scratchFolder();
  const at = (name: string) => path.join(folder, name);
  // More than one part of every task: 64 problems, and 512 for positions.
  const many = joinBatches(Array<SetBatch>(600 / COUNT).fill(batch));
  writeFileSync(at('set.npz'), encodeSet(many));
  for (const task of TASKS) {
    await crabInProcess('arrays', at('set.npz'), '--task', task, '--out', at(`${task}.npz`));
    const label = unicodeArray(many.label.map(formatLabel));
    const variant = { ...unicodeArray([String(many.variant)]), shape: [] };
    const told = [['label', label] as const, ['variant', variant] as const];
    const whole = writeNpz([...taskArrays(many, task), ...told]);
    expect(Buffer.compare(readFileSync(at(`${task}.npz`)), whole), task).toBe(0);
  }
  const positions = ['arrays', at('set.npz'), '--task', 'positions', '--targets', '8'];
  const failure = await failureOf(...positions, '--foreign', '500', '--out', at('x.npz'));
  expect(failure.message).toMatch(
    /--task positions needs 2415000 pictures .*: take --size 21 or less, or fewer --foreign$/,
  );
});

test('crab arrays: from sets at 64, from RAVEN folders at any size', async () => {
  const folder = scratchFolder();
  const at = (name: string) => path.join(folder, name);
  writeFileSync(at('set.npz'), encodeSet(batch));
  await crabInProcess('arrays', at('set.npz'), '--task', 'odd-one-out', '--out', at('odd.npz'));
  const odd = await readNpz(readFileSync(at('odd.npz')));
  expect([...odd.keys()]).toEqual(['panel', 'answer', 'label', 'variant']);
  expect(
    Buffer.compare(
      odd.get('panel')!.data as Uint8Array,
      arraysOf('odd-one-out').panel.data as Uint8Array,
    ),
  ).toBe(0);
  await writeRavenProblem(at('raven'), 0, problems[0]);
  const args = ['arrays', at('raven/center_single'), '--size', '80', '--resize', 'area'];
  await crabInProcess(...args, '--out', at('half.npz'));
  const half = await readNpz(readFileSync(at('half.npz')));
  expect(half.get('panel')!.shape).toEqual([1, MATRIX_PANELS, 80, 80]);
  const first = resize(renderPanel(layoutOf('center'), problems[0].context[0]), 160, 80, 'area');
  expect(Buffer.from((half.get('panel')!.data as Uint8Array).subarray(0, 6400))).toEqual(
    Buffer.from(first),
  );
  // Problems of a test part are called so again.
  await writeRavenProblem(at('raven'), 9, problems[0]);
  const tested = words`arrays ${at('raven/center_single')} --part test --out ${at('test.npz')}`;
  await crabInProcess(...tested);
  await crabInProcess('convert', at('test.npz'), '--out', at('again'), '--quiet');
  const again = readdirSync(at('again/center_single'));
  expect(again.sort()).toEqual(['RAVEN_0_test.npz', 'RAVEN_0_test.xml']);
  const wrong = await failureOf('arrays', at('set.npz'), '--size', '80', '--out', at('x.npz'));
  expect(wrong.message).toMatch(/--size and --resize need full pictures/);
  const parted = await failureOf(
    ...words`arrays ${at('set.npz')} --part train --out ${at('x.npz')}`,
  );
  expect(parted.message).toMatch(/--part is of a RAVEN folder/);
  const taken = await failureOf('arrays', at('set.npz'), '--out', at('odd.npz'));
  expect(taken.message).toMatch(/odd\.npz exists already/);
});

test('crab arrays hears Ctrl-C between pictures, and leaves nothing', async () => {
  const folder = scratchFolder();
  for (const [i, problem] of problems.slice(0, 6).entries()) {
    await writeRavenProblem(folder, i, problem);
  }
  const input = path.join(folder, 'center_single');
  const out = path.join(folder, 'deep', 'a.npz');
  const asked = ['arrays', input, '--size', '1000', '--resize', 'antialias', '--quiet'];
  await expect(interruptAtWork(asked, out)).rejects.toThrow(/abort/);
  expect(readdirSync(path.dirname(out))).toEqual([]);
});

test('crab arrays shows how far it is, unless it is to be quiet', async () => {
  const folder = scratchFolder();
  const set = path.join(folder, 'set.npz');
  writeFileSync(set, encodeSet(batch));
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true });
  const shown: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => shown.push(String(text)) > 0);
  try {
    await crabInProcess('arrays', set, '--out', path.join(folder, 'quiet.npz'), '--quiet');
    expect(shown).toEqual([]);
    await crabInProcess('arrays', set, '--out', path.join(folder, 'a.npz'));
    expect(shown.join('')).toContain(`${COUNT}/${COUNT} problems`);
  } finally {
    vi.restoreAllMocks();
    Reflect.deleteProperty(process.stderr, 'isTTY');
  }
});
