/** Fast ways of the lab give what plain ones do: products of rows, candidates drawn, panels encoded once. */
import { describe, expect, test } from 'vitest';
import { drawCandidates, type Offered, type Targets } from '../../src/lab/calibration-choice.js';
import { PictureSubject } from '../../src/lab/index.js';
import { PLAIN_ALGEBRA, squaredDistance, TORCH_ALGEBRA } from '../../src/lab/row-algebra.js';
import { MATRIX_PANELS, Random, SMALL_PIXELS } from '../../src/matrix/index.js';
import { systemNamed } from '../../src/models/index.js';
import { Generator, isTorchAvailable, tensor } from '../../src/torch/index.js';

const SIZE = 37;

function randomRows(count: number, seed: number): Float64Array[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () =>
    Float64Array.from({ length: SIZE }, () => random.next() / 2 ** 31 - 1),
  );
}

/** The largest difference of numbers. */
const gap = (a: readonly Float64Array[], b: readonly Float64Array[]): number =>
  Math.max(...a.flatMap((row, i) => Array.from(row, (value, j) => Math.abs(value - b[i][j]))));

test('a squared distance is the sum of squared differences, whatever the length', () => {
  const [a, b] = randomRows(2, 1);
  for (let length = 0; length <= SIZE; length++) {
    const [some, others] = [a.subarray(0, length), b.subarray(0, length)];
    const sum = some.reduce((total, value, i) => total + (value - others[i]) ** 2, 0);
    expect(squaredDistance(some, others)).toBeCloseTo(sum, 12);
  }
});

describe.skipIf(!isTorchAvailable())('libtorch', () => {
  const rows = randomRows(20, 2);

  test('multiplies, measures and averages rows as loops do', () => {
    const others = randomRows(11, 3);
    const [torch, plain] = [TORCH_ALGEBRA, PLAIN_ALGEBRA];
    expect(
      gap(torch.squaredDistances(rows, others), plain.squaredDistances(rows, others)),
    ).toBeLessThan(1e-12);
    const [ours, loops] = [torch.momentsOf(rows, SIZE), plain.momentsOf(rows, SIZE)];
    expect(gap([ours.mean, ours.covariance], [loops.mean, loops.covariance])).toBeLessThan(1e-13);
    const factor = new Float64Array(SIZE * SIZE);
    randomRows(SIZE, 4).forEach((row, i) => factor.set(row.subarray(0, i + 1), i * SIZE));
    expect(
      gap(torch.lowerProducts([factor], SIZE, rows), plain.lowerProducts([factor], SIZE, rows)),
    ).toBeLessThan(1e-12);
  });

  test('a model that foretells concepts is asked for as many distances as it scores', async () => {
    const config = systemNamed('lgpp').config('paper', 'center', {
      overrides: { network: { coder: { encoder: [4, 4, 8, 8, 8], decoder: [8, 8, 4, 4, 4] } } },
    });
    const model = systemNamed('lgpp')
      .create(config, { generator: new Generator('cpu', 3) })
      .eval();
    const facts = { imageSize: 64, positions: 'any', can: [] } as never;
    const subject = new PictureSubject(model, facts);
    const random = new Random(6);
    const panels = Array.from({ length: 2 * MATRIX_PANELS + 8 }, () =>
      Uint8Array.from({ length: SMALL_PIXELS }, () => random.below(256)),
    );
    const candidates = [0, 1, 2].map((c) => [
      panels[2 * MATRIX_PANELS + c],
      panels[2 * MATRIX_PANELS + c + 3],
    ]);
    const questions = [
      { panels: panels.slice(0, 9), missing: [2, 7], candidates },
      { panels: panels.slice(9, 18), missing: [5, 9], candidates: candidates.toReversed() },
    ];
    const bytes = (some: readonly Uint8Array[], shape: number[]) =>
      tensor(Uint8Array.from(some.flatMap((each) => [...each])), { shape }).to({ dtype: 'f32' });
    const scores = model.score(
      bytes(panels.slice(0, 18), [2, 9, 64, 64]).div(255),
      [
        [1, 6],
        [4, 8],
      ],
      bytes(
        questions.flatMap((each) => each.candidates.flat()),
        [2, 3, 2, 64, 64],
      ).div(255),
    );
    const expected = Array.from(scores.data() as Float32Array, (score) => -score);
    // The second time its concepts are known.
    for (const time of [1, 2]) {
      const found = (await subject.choose(questions)).flatMap(({ own }) => own);
      found.forEach((distance, i) => {
        expect(distance / expected[i], `time ${time}`).toBeCloseTo(1, 4);
      });
    }
    await subject.dispose();
  });
});

/** What each problem is offered, by sorting everything. */
function sortedCandidates({ positions, encoded }: Targets, seed: number): Offered[][] {
  return positions.map((missing, n) => {
    const all = encoded.flatMap((_, problem): Offered[] =>
      problem === n
        ? []
        : missing.length > 1
          ? [{ problem, positions: missing }]
          : encoded[problem].map((__, at) => ({ problem, positions: [at + 1] })),
    );
    const far = (offered: Offered): number =>
      offered.positions.reduce(
        (sum, at, t) =>
          sum + squaredDistance(encoded[offered.problem][at - 1], encoded[n][missing[t] - 1]),
        0,
      );
    const mean = all.reduce((sum, each) => sum + far(each), 0) / all.length;
    const different = all.filter((each) => far(each) > 1e-6 * mean);
    const alike = different.toSorted((a, b) => far(a) - far(b)).slice(0, 31);
    const most = Math.min(32, different.length);
    const random = new Random(seed, n, 77).subset(different.length, most);
    return [{ problem: n, positions: missing }, ...alike, ...random.map((i) => different[i])];
  });
}

test.each([1, 2, 3])('candidates of %i missing panels are those that sorting finds', (targets) => {
  const rows = randomRows(40 * MATRIX_PANELS, 5);
  // Equal panels are equally far, and the same panel is never offered.
  rows[3] = rows[40];
  rows[100] = rows[40];
  const encoded = Array.from({ length: 40 }, (_, n) =>
    rows.slice(n * MATRIX_PANELS, (n + 1) * MATRIX_PANELS),
  );
  const positions = encoded.map((_, n) =>
    new Random(7, n).subset(MATRIX_PANELS, targets).map((at) => at + 1),
  );
  const made: Targets = { positions, encoded, predicted: [] };
  const expected = sortedCandidates(made, 9);
  for (const algebra of isTorchAvailable() ? [PLAIN_ALGEBRA, TORCH_ALGEBRA] : [PLAIN_ALGEBRA]) {
    const found = drawCandidates(made, 9, algebra);
    // Of panels that are equal to the bit, rounding may put either first.
    const seen = (offers: readonly Offered[][]) =>
      offers.map((each) =>
        each.map(({ problem, positions: places }) =>
          places.map((at) => rows.indexOf(encoded[problem][at - 1])),
        ),
      );
    expect(seen(found)).toEqual(seen(expected));
  }
});
