/** Vocabularies: found without labels, whatever seed; named, stored, and what they make of predictions. */
import { describe, expect, test } from 'vitest';
import {
  layoutOf,
  matrixPanels,
  PanelReader,
  Random,
  renderPanel64,
  sampleProblem,
} from '../../src/matrix/index.js';
import { findVocabulary } from '../../src/lab/index.js';
import { findGroups } from '../../src/lab/vocabulary/groups.js';
import { entryStatistics, likelihoodsOf } from '../../src/lab/vocabulary/statistics.js';
import {
  BundleError,
  formatVocabulary,
  nameRules,
  parseVocabulary,
  Vocabulary,
  type Answer,
  type ConceptMeans,
} from '../../src/solver/index.js';
import { likeliest } from '../../src/solver/alternatives.js';
import { memoryBundle, Solver } from '../../src/solver/node.js';
import { randomBundle, tinyConfig } from '../solver/random-model.js';
import { madeUpSubject } from './made-up.js';

const SIZE = 4;

/** A place for a value of something: the same value always has the same place, others are far. */
const placeOf = (what: number, value: number): number[] => {
  const random = new Random(10_007, what, value);
  return Array.from({ length: SIZE }, () => (random.next() / 2 ** 32 - 0.5) * 60);
};

/** Rows of six concepts: 1 follows a, 2 and 3 follow b together, 4 stands still, 5 follows a and b, 6 c. */
function rowsOf(seed: number, count: number) {
  const values = new Float32Array(count * 6 * SIZE);
  for (let n = 0; n < count; n++) {
    const random = new Random(seed, n);
    const [a, b, c] = [random.below(40), random.below(50), random.below(3)];
    const concepts = [
      placeOf(1, a),
      placeOf(2, b % 7),
      placeOf(3, b),
      placeOf(4, 0),
      placeOf(5, (a % 2) * 2 + (b % 2)),
      placeOf(6, c),
    ];
    concepts.flat().forEach((value, i) => {
      const noise = (random.next() / 2 ** 32 - 0.5) * 0.8;
      values[n * 6 * SIZE + i] = value + noise;
    });
  }
  return { count, size: 6 * SIZE, values };
}

describe('groups of a made-up model', () => {
  test.each([3, 4])('are those it was made of, seed %i', (seed) => {
    const found = findGroups(rowsOf(seed, 4000), SIZE);
    expect(found.groups.map(({ concepts }) => concepts)).toEqual([[0], [1, 2], [5]]);
    expect(found.groups.map(({ clusters }) => clusters.counts.length)).toEqual([40, 50, 3]);
    expect(found.shared.map(({ concept }) => concept)).toEqual([4]);
    expect(found.still).toEqual([3]);
    expect(found.open).toEqual([]);
  });

  test('a concept of endless values is open, and joins nothing', () => {
    const rows = rowsOf(5, 2000);
    for (let n = 0; n < rows.count; n++) {
      const random = new Random(99, n);
      for (let k = 0; k < SIZE; k++) rows.values[n * rows.size + k] = random.next() / 2 ** 20;
    }
    const found = findGroups(rows, SIZE);
    expect(found.open).toEqual([0]);
    expect(found.groups.map(({ concepts }) => concepts)).toEqual([[1, 2, 4], [5]]);
  });
});

/** A model of `center` whose three concepts are colour, shape and size, and which foretells the truth. */
function reader() {
  const read = new PanelReader(layoutOf('center', false));
  const encode = (picture: Uint8Array): ConceptMeans => {
    const seen = read.readExactly(picture);
    if (seen === null) throw new Error('not a panel of center');
    const [{ type, color, sizes }] = seen[0];
    return [placeOf(1, color), placeOf(2, type), placeOf(3, sizes[0])].map((place) =>
      Float32Array.from(place),
    );
  };
  return madeUpSubject({
    concepts: 3,
    size: SIZE,
    encode,
    rules: () => [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
  });
}

async function vocabularyOf(subject = reader(), seed?: number) {
  const data = await findVocabulary(subject, { problems: 96, targetCounts: [1], seed });
  if (data === null) throw new Error('no vocabulary was found');
  return data;
}

const sizes = { concepts: 3, conceptSize: SIZE, ruleSize: 2 };

describe('a vocabulary', () => {
  test('has the groups and entries of its model, named after what they determine', async () => {
    for (const seed of [undefined, 5]) {
      const { groups, shared, still } = await vocabularyOf(reader(), seed);
      expect(groups.map(({ concepts }) => concepts)).toEqual([[0], [1], [2]]);
      expect(groups.map(({ counts }) => counts.length)).toEqual([10, 5, 6]);
      expect(groups.map(({ attributes }) => attributes.map(({ name }) => name))).toEqual([
        ['Color'],
        ['Type'],
        ['Size'],
      ]);
      const levels = groups[0].attributes[0].values.map(([level]) => level);
      expect([...levels].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect([shared, still]).toEqual([[], []]);
    }
  });

  test('is the same after a round trip through its file', async () => {
    const data = await vocabularyOf();
    expect(parseVocabulary(formatVocabulary(data, sizes), sizes)).toEqual(data);
  });

  test('reads panels as entries, and writes them back as they were', async () => {
    const subject = reader();
    const sigma = subject.solver.manifest.sigmaZ;
    const vocabulary = new Vocabulary(await vocabularyOf(subject), sizes, sigma);
    const means = [placeOf(1, 3), placeOf(2, 2), placeOf(3, 5)];
    const row = Float32Array.from(means.flat());
    const symbols = vocabulary.symbolsOf(row);
    expect(symbols).not.toContain(null);
    const written = vocabulary.write(symbols, new Float32Array(row.length));
    written.forEach((value, i) => expect(Math.abs(value - row[i])).toBeLessThan(0.5 * sigma));
    expect(vocabulary.symbolsOf(row.map((value) => value + 100))).toEqual([null, null, null]);
    expect(vocabulary.write([null, null, null], row)).toEqual(row);
  });

  test('names the true rules, all that fit, and is sure of them', async () => {
    const subject = reader();
    const { manifest } = subject.solver;
    const vocabulary = new Vocabulary(await vocabularyOf(subject), sizes, manifest.sigmaZ);
    const layout = layoutOf('center', false);
    const problem = sampleProblem({ configuration: 'center', seed: 12, index: 1 });
    const panels = await subject.solver.encode(
      matrixPanels(problem).map((panel) => renderPanel64(layout, panel)),
    );
    const [plain] = await subject.answers([{ panels, missing: [9] }]);
    const rows = panels.map((means) => Float32Array.from(means.flatMap((m) => [...m])));
    const foretold = vocabulary.foretell(
      rows[8],
      [
        [0, 0],
        [0, 0],
        [0, 0],
      ],
      [9],
    );
    const answer: Answer = {
      ...plain,
      symbols: rows.map((row) =>
        vocabulary.symbolsOf(row).map((entry) => ({
          entry: entry === null ? null : entry + 1,
          probability: 1,
        })),
      ),
      imagined: [{ foretold, concepts: panels[8], known: true }],
    };
    const named = nameRules(vocabulary, manifest, answer);
    expect(named.map(({ attribute }) => attribute)).toEqual(['Type', 'Size', 'Color']);
    problem.rules[0].slice(1).forEach((rule, i) => {
      expect(named[i].rules).toContainEqual(rule);
      expect(named[i].confidence).toBeGreaterThan(0.99);
      expect(named[i].obeyed).toBe(true);
    });
    // A panel that is none of the known ones tells of no rule.
    const blind = {
      ...answer,
      symbols:
        answer.symbols?.map((each) => each.map(() => ({ entry: null, probability: 0 }))) ?? null,
    };
    for (const { rules, confidence } of nameRules(vocabulary, manifest, blind)) {
      expect([rules, confidence]).toEqual([[], 0]);
    }
  });
});

test('predictions between two entries may be either, if the rule leaves it open', () => {
  const group = {
    concepts: [0],
    mean: Float32Array.of(0),
    basis: Float32Array.of(1),
    entries: Float32Array.of(-10, 10, 30),
    counts: Float32Array.of(1, 1, 1),
    attributes: [],
  };
  const shape = { concepts: 1, conceptSize: 1, ruleSize: 1 };
  // Rule 0 decides: predictions are exact. Rule 1 leaves it open: they lie between the first two.
  const random = new Random(8, 8);
  const rows = Array.from({ length: 1200 }, () => {
    const [rule, entry] = [random.below(2), random.below(2)];
    const noise = random.next() / 2 ** 32 - 0.5;
    const right = entry === 0 ? -10 : 10;
    return { rule, entry, right, predicted: (rule === 0 ? right : 0) + noise };
  });
  const [fitted, judged] = [rows.slice(0, 900), rows.slice(900)];
  const found = entryStatistics(
    {
      predicted: fitted.map(({ predicted }) => Float64Array.of(predicted)),
      encoded: fitted.map(({ right }) => Float64Array.of(right)),
      rules: fitted.map(({ rule }) => [rule]),
    },
    (tried) => ({
      likelihoods: likelihoodsOf(
        { ...group, statistics: new Map() },
        tried,
        shape,
        1,
        judged.map(({ predicted, rule }) => ({ row: Float32Array.of(predicted), rules: [[rule]] })),
      ),
      right: judged.map(({ entry }) => entry),
    }),
  );
  const statistics = new Map([['last', found] as const]);
  const vocabulary = new Vocabulary(
    { groups: [{ ...group, statistics }], shared: [], still: [] },
    shape,
    1,
  );
  const [open] = vocabulary.foretell([0], [[1]], [9]);
  expect(open.known).toBe(true);
  expect(Math.abs(open.probabilities[0] - 0.5)).toBeLessThan(0.15);
  expect(open.probabilities[2]).toBeLessThan(0.05);
  const [clear] = vocabulary.foretell([10], [[0]], [9]);
  expect(clear.best).toBe(1);
  expect(clear.probabilities[1]).toBeGreaterThan(0.95);
  expect(vocabulary.foretell([4000], [[0]], [9])[0].known).toBe(false);
});

test('the likeliest combinations come in order and add up to 1 when all are given', () => {
  const foretold = (...probabilities: number[]) => ({ probabilities, best: 0, known: true });
  const panels = [
    [foretold(0.5, 0.3, 0.2), foretold(0.9, 0.1)],
    [foretold(0.6, 0.4), { probabilities: [1], best: 0, known: false }],
  ];
  const all = likeliest(panels, 100);
  expect(all).toHaveLength(12);
  expect(all.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 12);
  all.slice(1).forEach(({ probability }, i) => {
    expect(probability).toBeLessThanOrEqual(all[i].probability);
  });
  expect(all[0]).toEqual({
    probability: 0.5 * 0.9 * 0.6,
    symbols: [
      [0, 0],
      [0, null],
    ],
  });
  expect(new Set(all.map(({ symbols }) => JSON.stringify(symbols))).size).toBe(12);
});

describe('a bundle', () => {
  const bundle = randomBundle(tinyConfig());
  const load = async (bytes: Uint8Array | null): Promise<Solver> => {
    const files = new Map(bundle.files);
    if (bytes !== null) files.set('vocabulary.safetensors', bytes);
    return Solver.open(await memoryBundle(bundle.manifest, files));
  };

  test('without a vocabulary paints the mean, and says that it has one answer only', async () => {
    const solver = await load(null);
    const panels = Array.from({ length: 8 }, (_, i) => new Uint8Array(4096).fill(20 * i));
    const answer = await solver.solve(panels);
    expect([answer.symbols, answer.imagined, solver.nameRules(answer)]).toEqual([null, null, null]);
    const mean = await solver.solve(panels, { paint: 'mean' });
    expect(answer.images).toEqual(mean.images);
    await expect(solver.alternatives(answer, 2)).rejects.toThrow(/has no vocabulary/);
    await solver.dispose();
  });

  test('with a damaged or foreign vocabulary is refused with one sentence', async () => {
    const foreign = formatVocabulary(await vocabularyOf(), sizes);
    for (const bytes of [foreign, foreign.slice(0, 100), new Uint8Array(20)]) {
      const failure = await load(bytes).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(BundleError);
      expect((failure as Error).message).toMatch(/vocabulary\.safetensors/);
      expect((failure as Error).message).not.toContain('\n');
    }
  });
});
