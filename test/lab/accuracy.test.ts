/** Selection accuracy, at the last position and anywhere, of predictors whose accuracy is known. */
import { describe, expect, test } from 'vitest';
import {
  answerDistances,
  Bootstrap,
  generatedSource,
  globalSelectionAccuracy,
  GSA_CANDIDATES,
  selectionAccuracy,
  studyProblems,
  subjectFrom,
  type StudiedProblems,
  type Subject,
} from '../../src/lab/index.js';
import { batches, MATRIX_PIXELS, Random, SMALL_PIXELS } from '../../src/matrix/index.js';
import {
  memoryBundle,
  nearest,
  type ConceptMeans,
  type SelectionStatistics,
} from '../../src/solver/node.js';
import { randomBundle, tinyConfig } from '../solver/random-model.js';
import { fingerprint, madeUpSubject, type MadeUp } from './made-up.js';

const request = { configuration: 'center', noisy: false, variant: 'raven', seed: 11 } as const;
const noise = (random: Random): number => random.next() / 2 ** 31 - 1;
const randomConcepts = (random: Random, concepts = 2, size = 4): ConceptMeans =>
  Array.from({ length: concepts }, () => Float32Array.from({ length: size }, () => noise(random)));

describe('selection accuracy', () => {
  test('of an oracle is 1, whichever distance', async () => {
    const answers = new Map<string, ConceptMeans>();
    const key = (concepts: readonly ConceptMeans[]): string =>
      concepts
        .slice(0, 8)
        .map((means) => [...means[0]].join())
        .join(';');
    for await (const { panel, count } of batches(generatedSource(request, 60))) {
      for (let n = 0; n < count; n++) {
        const nine = Array.from({ length: 9 }, (_, i) => {
          const from = n * MATRIX_PIXELS + i * SMALL_PIXELS;
          return fingerprint(panel.subarray(from, from + SMALL_PIXELS), 2, 4);
        });
        answers.set(key(nine), nine[8]);
      }
    }
    const oracle = madeUpSubject({
      predict: ({ concepts }) => answers.get(key(concepts)) ?? concepts[0],
    });
    const result = await selectionAccuracy(oracle, generatedSource(request, 60));
    expect(result.count).toBe(60);
    expect(result.sa).toEqual(new Bootstrap(result.count).share(Array(result.count).fill(1)));
    expect(result.sa).toMatchObject({ value: 1, high: 1 });
    expect(result.saL2?.value).toBe(1);
  });

  test('of a constant is the share of answers in the first place', async () => {
    const constant = madeUpSubject({ encode: () => [new Float32Array(4), new Float32Array(4)] });
    const source = generatedSource(request, 300);
    const { answer } = await source.read(0, 300);
    const result = await selectionAccuracy(constant, source);
    const first = answer.filter((place) => place === 0).length / 300;
    expect(result.sa.value).toBe(first);
    expect(result.sa.low).toBeLessThan(first);
    expect(result.sa.high).toBeGreaterThan(first);
    expect(first).toBeLessThan(0.25);
  });

  test('never shows panel 9 to the model', async () => {
    let seen = 0;
    const peeking = madeUpSubject({
      predict: ({ concepts }, position) => {
        seen += Number(concepts[position - 1] !== concepts[0]);
        return concepts[0];
      },
    });
    await selectionAccuracy(peeking, generatedSource(request, 10));
    expect(seen).toBe(0);
  });

  test("chooses as the solver's own choose does, by both distances", async () => {
    const { manifest, files } = randomBundle(tinyConfig());
    const subject = await subjectFrom(await memoryBundle(manifest, files));
    try {
      const batch = await generatedSource(request, 24).read(0, 24);
      const pictures = (bytes: Uint8Array, first: number): Uint8Array[] =>
        Array.from({ length: 8 }, (_, i) =>
          bytes.subarray((first + i) * SMALL_PIXELS, (first + i + 1) * SMALL_PIXELS),
        );
      const { solver } = subject;
      const matrices = batch.answer.map((_, n) => ({ panels: pictures(batch.panel, n * 9) }));
      const answers = await solver.solveAll(matrices, { images: false });
      const choices = await solver.chooseAll(
        answers.map((answer, n) => ({ answer, candidates: pictures(batch.selection, n * 8) })),
      );
      const found = await answerDistances(subject, batch);
      found.forEach(({ own, l2 }, n) => {
        const { index, candidates } = choices[n];
        expect(nearest(own)).toBe(index);
        candidates.forEach((report, c) => {
          expect(own[c]).toBeCloseTo((report.calibrated ?? NaN) + (report.painted ?? 0), 3);
          expect(l2?.[c]).toBeCloseTo(report.l2, 3);
        });
      });
      expect(found.map(({ own }) => nearest(own))).not.toEqual(
        found.map(({ l2 }) => nearest(l2 ?? [])),
      );
    } finally {
      await subject.dispose();
    }
  });

  test('a model without concepts compares all eight, and the distances of those offered are told', async () => {
    const subject = madeUpSubject();
    const asked: number[] = [];
    const plain: Subject = {
      ...{ facts: { ...subject.facts, sizes: null }, history: [], ruleMap: null },
      see: (pictures) => subject.see(pictures),
      choose: (questions) => {
        asked.push(...questions.map(({ candidates }) => candidates.length));
        const own = [7, 6, 5, 4, 3, 2, 1, 0];
        return Promise.resolve(questions.map(() => ({ own, l2: null, apart: [], scale: 1 })));
      },
      dispose: () => Promise.resolve(),
    };
    const batch = await generatedSource(request, 2).read(0, 2);
    const offered = [
      [1, 6],
      [7, 0, 2],
    ];
    const found = await answerDistances(plain, batch, undefined, offered);
    expect(asked).toEqual([8, 8]);
    expect(found.map(({ own }) => own)).toEqual([
      [6, 1],
      [0, 7, 5],
    ]);
  });

  test('stops when told to', async () => {
    const options = { signal: AbortSignal.abort() };
    await expect(
      selectionAccuracy(madeUpSubject(), generatedSource(request, 5), options),
    ).rejects.toThrow(/abort/i);
  });
});

const study = (parts: MadeUp, count = 200): Promise<StudiedProblems> =>
  studyProblems(madeUpSubject(parts), [], { count, seed: 3 });

const gsaOf = async (
  parts: MadeUp,
  options: { readonly count?: number; readonly studied?: StudiedProblems } = {},
) => {
  const studied = options.studied ?? (await study(parts, options.count));
  return globalSelectionAccuracy(madeUpSubject(parts), studied, { repeats: 3, seed: 5 });
};

describe('global selection accuracy', () => {
  test('of a perfect predictor is 1 everywhere', async () => {
    const { points, repeats, problems } = await gsaOf({});
    expect(points.map(({ targets, candidates }) => [targets, candidates])).toEqual(
      [1, 2, 3].flatMap((targets) => GSA_CANDIDATES.map((candidates) => [targets, candidates])),
    );
    for (const point of points) {
      expect(point.accuracy).toMatchObject({ value: 1, high: 1 });
      expect(point.accuracy.low).toBeLessThan(1);
      for (const other of [point.each, point.accuracyL2, point.eachL2])
        expect(other?.value).toBe(1);
    }
    expect(repeats).toBe(3);
    expect(problems).toEqual({ fromData: 0, generated: 200, seed: 3 });
  });

  test.each([2, 5, 7])('is exactly 1 after %i repeats too, with an interval', async (repeats) => {
    const studied = await study({}, 40);
    const { points } = await globalSelectionAccuracy(madeUpSubject(), studied, { repeats });
    for (const { each, eachL2 } of points) {
      expect([each?.value, eachL2?.value]).toEqual([1, 1]);
      expect(each?.low).toBeLessThan(1);
    }
  });

  test('of a random predictor is one in the number of candidates', async () => {
    const random = new Random(21);
    const { points } = await gsaOf({ predict: () => randomConcepts(random) }, { count: 400 });
    let covered = 0;
    for (const { candidates, accuracy, each } of points) {
      const chance = 1 / candidates;
      const spread = (accuracy.high - accuracy.low) / 4;
      expect(Math.abs(accuracy.value - chance)).toBeLessThan(4 * spread);
      expect(Math.abs((each?.value ?? NaN) - chance)).toBeLessThan(4 * spread);
      covered += Number(accuracy.low <= chance && chance <= accuracy.high);
    }
    expect(covered).toBeGreaterThanOrEqual(9);
  });

  test('of a constant encoder is chance as well: candidates as near share the choice', async () => {
    const nothing = [new Float32Array(4), new Float32Array(4)];
    const { points } = await gsaOf({ encode: () => nothing, predict: () => nothing });
    for (const { candidates, accuracy } of points) {
      expect(accuracy.value).toBeCloseTo(1 / candidates, 10);
    }
  });

  test('draws a distractor again that is equal to the answer', async () => {
    // Half of the problems are the very same one: drawn as distractors they would tie with the answer.
    const plain = await study({});
    const studied = {
      ...plain,
      keys: plain.keys.map((keys, n) => (n % 2 === 0 ? plain.keys[0] : keys)),
      panels: plain.panels.map((panels, n) => (n % 2 === 0 ? plain.panels[0] : panels)),
    };
    const { points } = await gsaOf({}, { studied });
    for (const { accuracy, each } of points) expect([accuracy.value, each?.value]).toEqual([1, 1]);
    const unmarked = { ...studied, keys: plain.keys };
    const tied = await gsaOf({}, { studied: unmarked });
    expect(tied.points[0].accuracy.value).toBeLessThan(0.95);
  });

  test('adds distances up over targets, and judges each by itself', async () => {
    // Of two missing panels the first is predicted, the second is a wild guess: but a near one.
    const parts: MadeUp = {
      predict: ({ concepts, missing = [] }, position) =>
        position === Math.min(...missing)
          ? concepts[position - 1]
          : randomConcepts(new Random(position)).map((row) => row.map((value) => value / 100)),
    };
    const { points } = await gsaOf(parts, { count: 300 });
    const two = points.filter(({ targets }) => targets === 2);
    for (const { candidates, accuracy, each } of two) {
      const alone = each?.value ?? NaN;
      expect(alone).toBeGreaterThan(0.5);
      expect(alone).toBeLessThan(0.5 + 1 / candidates);
      expect(accuracy.value).toBeGreaterThan(alone + 0.1);
    }
  });

  test('by calibrated distance looks past what cannot be predicted', async () => {
    const random = new Random(8);
    const parts: MadeUp = {
      predict: ({ concepts }, position) => {
        const [known] = concepts[position - 1];
        const wild = Float32Array.from({ length: 4 }, () => 3 * noise(random));
        return [known.map((value) => value + 0.05 * noise(random)), wild];
      },
    };
    const statistics: SelectionStatistics = new Map(
      (['targets1', 'targets2', 'targets3'] as const).map((key) => [
        key,
        {
          form: 'diagonal',
          shrinkage: 0,
          temperature: 1,
          mean: new Float32Array(8),
          covariance: Float32Array.from({ length: 8 }, (_, i) => (i < 4 ? 0.001 : 3)),
        },
      ]),
    );
    const { points } = await gsaOf({ ...parts, statistics });
    for (const { candidates, accuracy, accuracyL2 } of points) {
      expect(accuracy.value).toBeGreaterThan(0.99);
      expect(accuracyL2?.value).toBeLessThan(candidates === 2 ? 0.9 : 0.8);
    }
  });

  test('says when there are too few problems to draw distractors from', async () => {
    await expect(gsaOf({}, { count: 12 })).rejects.toThrow(/give more problems/);
  });
});

describe('problems studied', () => {
  test('are those of the data first, then fresh ones', async () => {
    const data = generatedSource({ ...request, seed: 77 }, 10);
    const subject = madeUpSubject();
    const studied = await studyProblems(subject, [data], { count: 25, seed: 3 });
    expect(studied.problems).toEqual({ fromData: 10, generated: 15, seed: 3 });
    const { panel } = await data.read(0, 10);
    expect(Buffer.compare(Buffer.concat(studied.pictures.slice(0, 10)), panel)).toBe(0);
    const fresh = await generatedSource({ ...request, seed: 3 }, 15).read(0, 15);
    expect(Buffer.compare(Buffer.concat(studied.pictures.slice(10)), fresh.panel)).toBe(0);
    expect(studied.labels).toHaveLength(25);
    const few = await studyProblems(subject, [data], { count: 4, seed: 3 });
    expect(few.problems).toEqual({ fromData: 4, generated: 0, seed: 3 });
  });

  test('are of all the data in turns, a matrix that is in several once', async () => {
    const subject = madeUpSubject();
    const one = generatedSource({ ...request, seed: 77 }, 40);
    const same = generatedSource({ ...request, variant: 'i-raven', seed: 77 }, 40);
    const other = generatedSource({ ...request, seed: 78 }, 50);
    const all = await studyProblems(subject, [one, same, other], { count: 95, seed: 3 });
    expect(all.problems).toEqual({ fromData: 90, generated: 5, seed: 3 });
    const some = await studyProblems(subject, [one, other], { count: 60, seed: 3 });
    expect(some.problems).toEqual({ fromData: 60, generated: 0, seed: 3 });
    const matrices = some.keys.map((keys) => keys.join());
    expect(new Set(matrices).size).toBe(60);
    const second = await subject.see((await other.read(0, 1)).panel);
    expect(matrices).toContain(second.keys.join());
  });

  test('encode every different picture once', async () => {
    let encoded = 0;
    const subject = madeUpSubject({
      encode: (picture) => {
        encoded++;
        return fingerprint(picture, 2, 4);
      },
    });
    const { panel } = await generatedSource(request, 20).read(0, 20);
    const { keys, panels } = await subject.see(panel);
    expect(encoded).toBe(new Set(keys).size);
    expect(encoded).toBeLessThan(180);
    const again = await subject.see(panel);
    expect(encoded).toBe(new Set(keys).size);
    again.panels.forEach((row, i) => expect(row).toBe(panels[i]));
    expect(panels[5]).toEqual(fingerprint(panel.slice(5 * SMALL_PIXELS, 6 * SMALL_PIXELS), 2, 4));
  });
});

describe('bootstrap', () => {
  test('has no width for what never varies', () => {
    expect(new Bootstrap(50).mean(new Float64Array(50).fill(0.25))).toEqual({
      value: 0.25,
      low: 0.25,
      high: 0.25,
    });
  });

  test('is as wide as the normal approximation for shares', () => {
    const values = Array.from({ length: 1000 }, (_, i) => Number(i % 10 < 3));
    const { value, low, high } = new Bootstrap(1000).mean(values);
    expect(value).toBeCloseTo(0.3, 10);
    const half = 1.96 * Math.sqrt((0.3 * 0.7) / 1000);
    expect(Math.abs(value - low - half)).toBeLessThan(0.15 * half);
    expect(Math.abs(high - value - half)).toBeLessThan(0.15 * half);
  });

  test('shares of 0 and 1 have the interval of Wilson, others that of resamples', () => {
    const bootstrap = new Bootstrap(50);
    const all = (value: number) => new Float64Array(50).fill(value);
    // Wilson's 95% interval of 0 of 50 is [0, 0.0713].
    expect(bootstrap.share(all(0))).toMatchObject({ value: 0, low: 0 });
    expect(bootstrap.share(all(0)).high).toBeCloseTo(0.07135, 4);
    expect(bootstrap.share(all(1))).toMatchObject({ value: 1, high: 1 });
    expect(bootstrap.share(all(1)).low).toBeCloseTo(0.92865, 4);
    const some = Array.from({ length: 50 }, (_, i) => Number(i % 5 === 0));
    expect(bootstrap.share(some)).toEqual(bootstrap.mean(some));
  });

  test('is the same every time, and passes over resamples that give nothing', () => {
    const bootstrap = new Bootstrap(4);
    expect(new Bootstrap(4).mean([1, 0, 1, 0])).toEqual(bootstrap.mean([1, 0, 1, 0]));
    expect(bootstrap.interval((times) => (times[0] === 1 ? 5 : null))).toEqual({ low: 5, high: 5 });
    expect(bootstrap.interval(() => null)).toBeNull();
    expect(() => bootstrap.mean([1])).toThrow(/1 values for 4/);
  });
});
