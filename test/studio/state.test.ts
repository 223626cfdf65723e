/** The parts of the page that need no browser: links, words for rules, ranges of concepts, difficulty. */
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  CONFIGURATIONS,
  formatLabel,
  hasGrid,
  layoutOf,
  parseLabel,
  Random,
  ruleTables,
  samplePanels,
  sampleProblem,
} from '../../src/matrix/index.js';
import type { RuleMap } from '../../src/solver/index.js';
import { planOf } from '../../src/studio/engine/difficulty.js';
import { isEmptyPanel, mostError, redrawingError } from '../../src/solver/index.js';
import { newestOnly } from '../../src/studio/engine/newest-only.js';
import { readConceptRules, skill } from '../../src/studio/engine/rule-words.js';
import { makeMatrix } from '../../src/studio/engine/matrices.js';
import { writeEdits } from '../../src/studio/engine/panel-edits.js';
import type { AnswerView, CandidateView, SampledSpec } from '../../src/studio/engine/protocol.js';
import {
  changingWords,
  ruleWords,
  subjectsOf,
  wordsForConcepts,
} from '../../src/studio/engine/words.js';
import { failureWords, mistakeWords } from '../../src/studio/parts/mistakes.js';
import { lookOf } from '../../src/studio/parts/rule-looks.js';
import {
  BACKENDS,
  DISTANCES,
  LAYOUT_NAMES,
  readSettings,
  TABS,
  writeSettings,
  type Settings,
} from '../../src/studio/state/settings.js';
import { tourState, withTourMatrix } from '../../src/studio/tour/steps.js';
import { pixelsOf } from '../matrix/pixels.js';
import { sampledSpec } from './sampled-spec.js';

const coordinate = fc.integer({ min: -9_999_000, max: 9_999_000 }).map((value) => value / 1000);
const anySettings: fc.Arbitrary<Settings> = fc.record({
  tab: fc.constantFrom(...TABS),
  layout: fc.constantFrom(...LAYOUT_NAMES),
  model: fc.constantFrom('', 'my-run-3', 'center'),
  seed: fc.nat(999_999_999),
  index: fc.nat(999_999_999),
  variant: fc.constantFrom('raven', 'i-raven'),
  difficulty: fc.constantFrom('gentle', 'standard', 'hard'),
  missing: fc
    .uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 8 })
    .map((list) => list.sort((a, b) => a - b)),
  picked: fc.integer({ min: 0, max: 16 }),
  revealed: fc.boolean(),
  concept: fc.integer({ min: 0, max: 64 }),
  distance: fc.constantFrom(...DISTANCES),
  imposed: fc.option(
    fc.record({ concept: fc.integer({ min: 1, max: 64 }), x: coordinate, y: coordinate }),
  ),
  another: fc.nat(99),
  tour: fc.nat(4),
  truth: fc.boolean(),
  point: fc.integer({ min: -1, max: 9999 }),
  moment: fc.integer({ min: -1, max: 63 }),
  testLayouts: fc.uniqueArray(fc.constantFrom(...LAYOUT_NAMES), { minLength: 1 }),
  testCount: fc.integer({ min: 1, max: 50 }),
  testSeed: fc.constantFrom(0, 5, 1938, 999_999_999),
  edits: fc.constantFrom('', '5.0.1.3.2.4', '9.1.511.5.5.9_1.0.1.1.0.0'),
  constraints: fc.constantFrom('', '{"rules":[{"size":{"name":"Progression","value":-1}}]}'),
  pictures: fc.constantFrom('', 'abc-_09AZ'),
  backend: fc.constantFrom(...BACKENDS),
});

describe('links', () => {
  test('every state survives its address', () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        const { imposed, ...rest } = readSettings(writeSettings(settings));
        const { imposed: given, ...expected } = settings;
        expect(rest).toEqual(expected);
        expect(imposed === null).toBe(given === null);
        if (imposed !== null && given !== null) {
          expect(imposed.concept).toBe(given.concept);
          expect(imposed.x).toBeCloseTo(given.x, 3);
          expect(imposed.y).toBeCloseTo(given.y, 3);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('whatever stands in an address, the state is sound', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 200 }),
        fc.constantFrom('seed', 'missing', 'rule', 'config', 'tab', 'slide', 'test', 'set'),
        (text, key) => {
          for (const hash of [`#${text}`, `#${key}=${encodeURIComponent(text)}`]) {
            const settings = readSettings(hash);
            expect(TABS).toContain(settings.tab);
            expect(LAYOUT_NAMES).toContain(settings.layout);
            expect(settings.missing.length).toBeLessThan(9);
            expect(Number.isSafeInteger(settings.seed)).toBe(true);
            expect(readSettings(writeSettings(settings))).toEqual(settings);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('the shortest address is that of the first visit', () => {
    expect(writeSettings(readSettings(''))).toBe('#tab=play');
  });

  test('the tour has its own matrix, whatever a link asks for', () => {
    for (const step of [1, 2, 3, 4]) {
      expect(withTourMatrix(readSettings(`#tour=${step}`))).toEqual(tourState(step));
      const elsewhere = readSettings(`#tour=${step}&tab=why&config=grid-2x2&backend=wasm`);
      expect(withTourMatrix(elsewhere)).toEqual({ ...tourState(step), backend: 'wasm' });
      // What a person does in the tour stays.
      const imposed = { concept: 1, x: 0.5, y: 0.25 };
      const own = { ...tourState(step), missing: [1, 2], picked: 3, imposed, concept: 1 };
      expect(withTourMatrix(readSettings(writeSettings(own)))).toEqual(own);
    }
    const without = readSettings('#tab=why&config=grid-2x2&seed=3');
    expect(withTourMatrix(without)).toBe(without);
  });

  test('a test has a number of its own; in older links it is that of the matrix', () => {
    const { seed, testSeed } = readSettings('');
    expect(testSeed).not.toBe(seed);
    const numberOf = (link: string): number => readSettings(link).testSeed;
    for (const link of ['#tab=play&seed=41', '#tab=test']) expect(numberOf(link)).toBe(testSeed);
    for (const link of ['#tab=test&seed=41', '#set=center&seed=41']) {
      expect(numberOf(link)).toBe(41);
      expect(numberOf(`${link}&test=7`)).toBe(7);
    }
    // Without a number it was the one of the first visit.
    expect(numberOf('#tab=test&count=2')).toBe(seed);
    // Another matrix does not change the test.
    const played = { ...readSettings('#tab=test'), seed: 41 };
    expect(numberOf(writeSettings(played))).toBe(testSeed);
  });
});

describe('difficulty', () => {
  for (const configuration of CONFIGURATIONS) {
    test(`${configuration}: gentle changes one thing, hard all that can change`, () => {
      const layout = layoutOf(configuration);
      for (let seed = 0; seed < 20; seed++) {
        const rules = (difficulty: 'gentle' | 'hard') =>
          sampleProblem({
            configuration,
            variant: 'i-raven',
            seed,
            index: 0,
            constraints: planOf(layout, difficulty, seed, 0),
          }).rules.flat();
        const gentle = rules('gentle').filter(({ name }) => name !== 'Constant');
        expect(gentle).toHaveLength(1);
        expect(gentle[0].name).toBe('Progression');
        // Neighbouring sizes and greys look alike.
        const isFine = gentle[0].attribute === 'Size' || gentle[0].attribute === 'Color';
        if (isFine) expect(Math.abs(gentle[0].value)).toBe(2);
        const fixed = rules('hard').filter(({ name }) => name === 'Constant');
        const cannot = layout.components.flatMap(({ slots, color }) => [
          ...(slots.length === 1 ? ['Number/Position'] : []),
          ...(color.min === color.max ? ['Color'] : []),
        ]);
        expect(fixed.map(({ attribute }) => attribute).sort()).toEqual(cannot.sort());
      }
    });
  }
});

describe('words for rules', () => {
  const COUNT = 120;
  const matrices = Array.from({ length: COUNT }, (_, index) =>
    samplePanels({ configuration: 'left-right', seed: 5, index }),
  );
  const names = ['Constant', 'Progression', 'Arithmetic', 'Distribute_Three'];
  const mixture = {
    weights: names.map(() => 0.25),
    means: names.map((_, k) => [3 * k, 0]),
    covariances: names.map(() => [
      [0.1, 0],
      [0, 0.1],
    ]),
  };
  /** Concept 1 lies where the right component's Size rule puts it; concept 2 at random. */
  const map: RuleMap = {
    prior: [mixture, mixture],
    source: { configuration: 'left-right', noisy: false, seed: 5 },
    truth: matrices.map(({ rules }) => parseLabel(formatLabel(rules))),
    snapshots: [
      {
        step: 1,
        rules: matrices.map(({ rules }, n) => [
          [3 * names.indexOf(rules[1][2].name), 0.1],
          [3 * new Random(1, n).pick([0, 1, 2, 3]), 0],
        ]),
      },
    ],
  };

  test('a rule is called what the known ones around it were, of the attribute they tell of', () => {
    const [right, random] = readConceptRules(map, [null, null]) ?? [];
    expect(right.nameOf([0, 0])).toMatchObject({
      key: '1 Size',
      subject: 'Right size',
      rule: 'constant',
      meaning: 'the same in each row',
      share: 1,
    });
    expect(right.nameOf([9.2, 0])?.rule).toBe('distribute three');
    expect(right.nameOf([3, 0])?.rule).toMatch(/^progression [+−][12]$/);
    expect(right.classes.every(({ subject }) => subject === 'Right size')).toBe(true);
    expect(random.nameOf([0, 0])).toBeNull();
  });

  test('a rule that no known one is near has no name', () => {
    const [right] = readConceptRules(map, [null, null]) ?? [];
    expect(right.isFar([0, 0])).toBe(false);
    for (const empty of [
      [1.5, 0],
      [0, 4],
      [12, -3],
    ]) {
      expect(right.isFar(empty)).toBe(true);
      expect(right.nameOf(empty)).toBeNull();
    }
    // However they are placed, nearly all known rules are near each other.
    const scattered = matrices.map((_, n) => {
      const random = new Random(2, n);
      return [random.next() / 2 ** 32, random.next() / 2 ** 32];
    });
    const [, other] =
      readConceptRules(
        { ...map, snapshots: [{ step: 1, rules: scattered.map((each) => [[0, 0], each]) }] },
        [null, null],
      ) ?? [];
    expect(scattered.filter((each) => other.isFar(each)).length).toBeLessThan(COUNT / 20);
    expect(other.isFar([3, 3])).toBe(true);
  });

  test('a concept’s rules are told of the attribute it is named after, where they tell of it', () => {
    const size = { component: 1, group: 'Size' } as const;
    const color = { component: 0, group: 'Color' } as const;
    const [own] = readConceptRules(map, [size, null]) ?? [];
    expect(own.nameOf([0, 0])?.subject).toBe('Right size');
    const [other] = readConceptRules(map, [color, null]) ?? [];
    expect(other.nameOf([0, 0])?.subject).toBe('Right size');
  });

  test('too few points tell nothing', () => {
    const few = { ...map, truth: map.truth.slice(0, 5), snapshots: map.snapshots };
    expect(readConceptRules(few, [null, null])).toBeNull();
  });

  test('skill is 1 where neighbours always foretell, 0 where frequency does as well', () => {
    const classes = [0, 0, 0, 1, 1, 1];
    const own = [
      [1, 2],
      [0, 2],
      [0, 1],
      [4, 5],
      [3, 5],
      [3, 4],
    ];
    expect(skill(own, classes)).toBe(1);
    expect(
      skill(
        classes.map(() => [0]),
        classes,
      ),
    ).toBe(0);
    expect(
      skill(
        classes.map(() => [0]),
        [7, 7, 7, 7, 7, 7],
      ),
    ).toBe(0);
  });
});

describe('the vocabulary', () => {
  test('concepts are called after attributes, and what a name means is said', () => {
    const words = wordsForConcepts(layoutOf('out-in-grid'), [
      'Type Out a',
      'Type Out b',
      'Num/Pos In',
      'mixed',
      'unused',
      null,
      'mixed',
    ]);
    expect(words.map(({ title }) => title)).toEqual([
      'Outer shape 1',
      'Outer shape 2',
      'Inner number/position',
      'Mixed 4',
      'Unused 5',
      'Concept 6',
      'Mixed 7',
    ]);
    expect(words[1].about).toBe('follows outer shape most, as Outer shape 1 does');
    expect(words[1].subject).toEqual({ component: 0, group: 'Type' });
    expect(words[3].about).toMatch(/several attributes/);
    expect(words[4].about).toMatch(/does without it/);
  });

  test('a concept of several attributes, or of one without rules, has the words of the page too', () => {
    const words = wordsForConcepts(layoutOf('out-in-grid'), [
      'Type In + Size In',
      'Rotation Out',
      'Type Out + Color In',
    ]);
    expect(words.map(({ title, about }) => [title, about])).toEqual([
      ['Inner shape + size', 'follows inner shape and size most'],
      ['Outer rotation', 'follows outer rotation most: figures are turned by chance, by no rule'],
      ['Outer shape + inner colour', 'follows outer shape and inner colour most'],
    ]);
  });

  test('no concept of a published model has the words of the data sets', () => {
    const zoo = path.resolve(import.meta.dirname, '..', '..', 'zoo');
    const titles = CONFIGURATIONS.flatMap((name) => {
      const text = readFileSync(path.join(zoo, name, 'bundle.json'), 'utf8');
      const { conceptNames } = JSON.parse(text) as { conceptNames: ({ name: string } | null)[] };
      const names = conceptNames.map((concept) => concept?.name ?? null);
      return wordsForConcepts(layoutOf(name), names).map(({ title }) => title);
    });
    expect(titles.length).toBeGreaterThan(CONFIGURATIONS.length);
    expect(
      titles.filter((title) => /Type|Color|Num\/Pos|\b(Out|In|Up|Down)\b/.test(title)),
    ).toEqual([]);
  });

  test('names shared by several, or unknown, still tell concepts apart', () => {
    const words = wordsForConcepts(layoutOf('center'), ['Color', 'Color', 'Taste']);
    expect(words.map(({ title }) => title)).toEqual(['Colour 1', 'Colour 2', 'Taste']);
    expect(words[2].subject).toBeNull();
  });

  test.each(CONFIGURATIONS)('%s: every possible rule has words and a look of its own', (name) => {
    const layout = layoutOf(name);
    for (const { component, group } of subjectsOf(layout)) {
      const { rules } = ruleTables(layout.components[component])[group];
      const words = rules.map(({ rule }) => ruleWords(rule));
      expect(new Set(words).size).toBe(rules.length);
      const looks = rules.map(({ rule }) =>
        JSON.stringify(lookOf({ attribute: rule.attribute, rule: ruleWords(rule) })),
      );
      expect(new Set(looks).size).toBe(rules.length);
    }
  });
});

test('pictures that come out far worse than a model’s own are not known to it', () => {
  expect(mostError([0.0001, 0.0003, 0.0002])).toBe(0.004);
  // A model that redraws badly cannot tell.
  expect(mostError([0.01, 0.02])).toBe(0.2);
  expect(redrawingError(Float32Array.of(0, 1), Float32Array.of(0.5, 1))).toBeCloseTo(0.125);
});

test('a panel on which nothing is drawn is empty; none of any configuration is', () => {
  expect(isEmptyPanel(new Float32Array(4096).fill(1))).toBe(true);
  expect(isEmptyPanel(new Float32Array(4096).fill(0))).toBe(true);
  expect(isEmptyPanel(Float32Array.from({ length: 4096 }, (_, i) => 1 - 0.02 * (i % 3)))).toBe(
    true,
  );
  for (const configuration of CONFIGURATIONS) {
    for (const noisy of hasGrid(configuration) ? [false, true] : [false]) {
      const layout = layoutOf(configuration, noisy);
      for (let index = 0; index < 6; index++) {
        const { panels } = samplePanels({ configuration, noisy, seed: 3, index });
        for (const panel of panels) {
          expect(isEmptyPanel(pixelsOf(layout, panel))).toBe(false);
        }
      }
    }
  }
});

test('of calls asked for while one runs, only the newest follows', async () => {
  const ran: number[] = [];
  const releases: (() => void)[] = [];
  const call = newestOnly(async (n: number) => {
    ran.push(n);
    await new Promise<void>((done) => releases.push(done));
    return n;
  });
  const first = call(1);
  void call(2);
  const last = call(3);
  releases[0]();
  expect(await first).toBe(1);
  await expect.poll(() => releases.length, { timeout: 120_000 }).toBe(2);
  releases[1]();
  expect(await last).toBe(3);
  expect(ran).toEqual([1, 3]);
});

describe('mistakes in words', () => {
  const size = {
    key: '0 Size',
    subject: 'Size',
    attribute: 'Size' as const,
    rule: 'progression +1',
    meaning: 'larger in each column',
  };
  const colour = {
    key: '0 Color',
    subject: 'Left colour',
    attribute: 'Color' as const,
    rule: 'constant',
    meaning: 'the same in each row',
  };
  const candidate = (...breaks: (typeof size | typeof colour)[]): CandidateView => ({
    picture: { src: '' },
    alt: '',
    difference: null,
    breaks,
  });
  const answerWith = (rules: readonly string[] | null): AnswerView => {
    const named = rules?.map((rule) => ({ key: '0 Size', rules: rule === '' ? [] : [rule] }));
    return { named: named ?? null } as unknown as AnswerView;
  };

  test('which rules a candidate breaks', () => {
    expect(mistakeWords(2, candidate(size))).toBe(
      'Candidate 3 breaks the rule of size (larger in each column).',
    );
    expect(mistakeWords(0, candidate(size, colour))).toBe(
      'Candidate 1 breaks the rules of size (larger in each column) and left colour (the same in each row).',
    );
    expect(mistakeWords(0, candidate())).toBe('');
  });

  test('why CRAB took a wrong one: no rule, another rule, or the right one badly painted', () => {
    expect(failureWords(candidate(size), answerWith(['']))).toMatch(/found no rule for size/);
    expect(failureWords(candidate(size), answerWith(['constant']))).toMatch(
      /took the rule of size for another one: constant\./,
    );
    expect(failureWords(candidate(size), answerWith(['progression +1']))).toMatch(/read .* right/);
    // A model that names no rules, and a candidate of which nothing is known.
    expect(failureWords(candidate(size), answerWith(null))).toBe('');
    expect(failureWords(candidate(), answerWith(['']))).toBe('');
  });
});

test('what to look for is what can change in a layout', () => {
  expect(changingWords(layoutOf('center'))).toBe(
    'shape, size and colour each follow a rule of their own',
  );
  expect(changingWords(layoutOf('grid-3x3'))).toMatch(/^number or place, shape, size and colour/);
  expect(changingWords(layoutOf('left-right'))).toMatch(/in each of the two parts$/);
});

describe('what candidates break', () => {
  const spec = (edits: string): SampledSpec => sampledSpec({ edits });

  test('the answer breaks nothing, every other candidate what it differs in', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const { view, problem } = await makeMatrix({ ...spec(''), seed });
      view.candidates.forEach(({ breaks }, i) => {
        const changed = problem?.candidates[i].changes.map(({ attribute }) => attribute);
        expect(breaks.map(({ attribute }) => attribute).sort()).toEqual(changed?.sort());
      });
    }
  });

  test('a rule that panels changed by hand break is no fault of a candidate', async () => {
    const before = (await makeMatrix(spec(''))).view;
    const first = before.described?.[0].components[0].entities[0];
    if (first === undefined) throw new Error('the first panel is empty');
    // Another grey in the first panel: colour is constant in no way any more.
    const { type, size, color } = first;
    const edits = writeEdits([
      { panel: 1, component: 0, slots: [0], type, size, color: color === 9 ? 0 : color + 1 },
    ]);
    const { candidates } = (await makeMatrix(spec(edits))).view;
    const subjects = (of: typeof candidates) =>
      of.flatMap((each) => each.breaks.map((rule) => rule.subject));
    expect(subjects(before.candidates)).toContain('Colour');
    expect(subjects(candidates)).not.toContain('Colour');
    expect(subjects(candidates)).toContain('Size');
  });
});
