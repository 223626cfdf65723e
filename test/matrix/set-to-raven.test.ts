/** Sets read back to RAVEN's files: panels, entities and rules come back as they were. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ALL_LAYOUTS,
  batches,
  encodeSet,
  findLayout,
  joinBatches,
  MATRIX_PIXELS,
  panelKey,
  ProblemReader,
  problemToBatch,
  sampleProblem,
  PAPER_VARIANTS,
  type ConfigurationLayout,
  type Entity,
  type Panel,
  type Problem,
  type SetBatch,
  type Variant,
} from '../../src/matrix/index.js';
import {
  convert,
  generate,
  openProblems,
  openSet,
  readRavenFolder,
  writeRavenProblem,
} from '../../src/matrix/node.js';
import { writeFileAtomically } from '../../src/base/node.js';
import { scratchFolder } from '../scratch-folder.js';
import { REFERENCE } from './reference-files.js';
import { hasReferenceSets } from './reference-sets.js';

const COUNT = process.env.CRAB_TEST_LONG ? 100 : 5;

const sampled = (layout: ConfigurationLayout, variant: Variant, count = COUNT): Problem[] =>
  Array.from({ length: count }, (_, index) => {
    const { configuration, noisy } = layout;
    return sampleProblem({ configuration, noisy, variant, seed: 21, index });
  });

/** As a set of another program, which does not say how it was made. */
const setOf = (problems: readonly Problem[]): SetBatch => ({
  ...joinBatches(problems.map(problemToBatch)),
  parameters: undefined,
  variant: undefined,
});

const panelsOf = ({ context, candidates }: Problem): Panel[] => [
  ...context,
  ...candidates.map(({ panel }) => panel),
];

/** Figures by place, each without what pictures cannot always show. */
function shown(panel: Panel, layout: ConfigurationLayout): object {
  return panel.components.map(({ entities }, c) =>
    [...entities]
      .sort((a, b) => a.slot - b.slot)
      .map(({ slot, type, size, color }: Entity) => {
        // Squares of these two levels are drawn alike in the small slots of an inner grid.
        const open = layout.components[c].layout === 'In_Distribute_Four' && type === 2;
        return { slot, type, size: open && size === 3 ? 2 : size, color };
      }),
  );
}

/** Changes as text; Position beside Number is not to be seen. */
const changesOf = ({ candidates }: Problem): string[][] =>
  candidates.map(({ changes }) =>
    changes
      .filter(
        ({ component, attribute }) =>
          attribute !== 'Position' ||
          !changes.some((other) => other.component === component && other.attribute === 'Number'),
      )
      .map(({ component, attribute }) => `${component} ${attribute}`)
      .sort(),
  );

describe.each(PAPER_VARIANTS)('%s', (variant) => {
  test.each(ALL_LAYOUTS.map((layout) => [layout.folder, layout] as const))(
    '%s: a folder made a set and read back is the same folder',
    async (name, layout) => {
      const root = scratchFolder();
      const at = (file: string): string => path.join(root, file);
      const problems = sampled(layout, variant);
      for (const [i, problem] of problems.entries()) {
        await writeRavenProblem(at('made'), i, problem);
      }
      await convert({ input: at(`made/${name}`), out: at('set.npz'), format: 'npz' });
      await convert({ input: at('set.npz'), out: at('back'), format: 'raven' });
      const back: Problem[] = [];
      for await (const { index, part, problem } of readRavenFolder(at(`back/${name}`))) {
        expect(existsSync(at(`made/${name}/RAVEN_${index}_${part}.xml`))).toBe(true);
        if (problem) back.push(problem);
      }
      expect(back).toHaveLength(COUNT);
      back.forEach((found, i) => {
        const problem = problems[i];
        expect(found.rules).toEqual(problem.rules);
        expect(found).toMatchObject({ noisy: layout.noisy, target: problem.target });
        const [own, made] = [panelsOf(found), panelsOf(problem)];
        expect(own.map((panel) => shown(panel, layout))).toEqual(
          made.map((panel) => shown(panel, layout)),
        );
        // Nothing is turned and no small square is there: all of it comes back.
        if (layout.folder.startsWith('distribute') && !layout.noisy) {
          expect(own.map(panelKey)).toEqual(made.map(panelKey));
        }
      });
      expect(back.map(({ variant: found }) => found)).toEqual(back.map(() => variant));
      if (variant === 'i-raven' || !layout.folder.startsWith('in_distribute')) {
        expect(back.map(changesOf)).toEqual(problems.map(changesOf));
      }
      // Pictures, answers and labels of the set itself, byte for byte.
      await convert({ input: at(`back/${name}`), out: at('again.npz'), format: 'npz' });
      expect(readFileSync(at('again.npz')).equals(readFileSync(at('set.npz')))).toBe(true);
    },
  );
});

describe.each(['raven-fair', 'raven-unique'] as const)('%s', (variant) => {
  test('is told by folders, by sets, and by what becomes of either', async () => {
    const at = (file: string): string => path.join(root, file);
    const root = scratchFolder();
    const layouts = [findLayout('grid-2x2')];
    const made = { layouts, variant, count: COUNT, seed: 21, workers: 1 };
    await generate({ ...made, format: 'npz', out: at('set.npz') });
    await generate({ ...made, format: 'raven', out: at('made') });
    const told = 'made/distribute_four_uniform';
    await convert({ input: at(told), out: at('copied.npz'), format: 'npz' });
    await convert({ input: at('set.npz'), out: at('back'), format: 'raven' });
    // This folder has no generate.json: only its files tell.
    const back = 'back/distribute_four_uniform';
    await convert({ input: at(back), out: at('again.npz'), format: 'npz' });
    for (const name of ['set.npz', told, 'copied.npz', 'again.npz']) {
      const source = await openProblems(at(name));
      expect(source.variant).toBe(variant);
      expect((await source.read(0, 1)).variant).toBe(variant);
      await source.close();
    }
    for await (const { problem } of readRavenFolder(at(told))) {
      expect(problem?.variant).toBe(variant);
    }
  });
});

describe('what a set does not tell', () => {
  test('rules come from the panels if there are no labels', () => {
    for (const layout of ALL_LAYOUTS.filter(({ noisy }) => !noisy)) {
      const problems = sampled(layout, 'raven', 4);
      const batch = { ...setOf(problems), label: problems.map(() => []) };
      const found = ProblemReader.of(batch).read(batch, 0);
      expect(found.map(({ rules }) => rules)).toEqual(problems.map(({ rules }) => rules));
    }
  });

  test('an angle that a round figure hides is that of its row', () => {
    const layout = ALL_LAYOUTS[0];
    const problems = sampled(layout, 'raven', 60);
    const batch = setOf(problems);
    let turned = 0;
    ProblemReader.of(batch)
      .read(batch, 0)
      .forEach((found, i) => {
        for (const row of [0, 3]) {
          const [own, made] = [found, problems[i]].map(({ context }) =>
            context.slice(row, row + 3).map(({ components }) => components[0].entities[0]),
          );
          // A triangle looks different in each of the eight angles.
          if (!made.some(({ type }) => type === 1)) continue;
          expect(own.map(({ angle }) => angle)).toEqual(made.map(({ angle }) => angle));
          turned += made.filter(({ type, angle }) => type === 5 && angle !== 3).length;
        }
      });
    expect(turned).toBeGreaterThan(0);
  });
});

describe('refuses, with the number of the problem', () => {
  const center = ALL_LAYOUTS[0];
  const refusal = async (change: (batch: SetBatch) => SetBatch): Promise<string> => {
    const root = scratchFolder();
    const input = path.join(root, 'set.npz');
    await writeFileAtomically(input, encodeSet(change(setOf(sampled(center, 'raven', 3)))));
    const out = path.join(root, 'back');
    const error = await convert({ input, out, format: 'raven' }).catch((fault: unknown) => fault);
    expect(existsSync(out)).toBe(false);
    expect(error).toMatchObject({ name: 'FormatError' });
    return String((error as Error).message).replace(root, '');
  };

  test('a picture with one pixel that no drawing has', async () => {
    const message = await refusal((batch) => {
      batch.panel[MATRIX_PIXELS + 3 * 4096 + 5] ^= 1;
      return batch;
    });
    expect(message).toBe(
      '/set.npz: problem 1 (counted from 0) cannot be read back: its panel 4 is not drawn as center is, pixel for pixel',
    );
  });

  test('a label that the panels do not follow', async () => {
    const message = await refusal((batch) => ({
      ...batch,
      label: batch.label.map((label, i) => (i === 2 ? batch.label[0] : label)),
    }));
    expect(message).toMatch(/problem 2 .*its label tells .* do not all hold in its rows/);
  });

  test('a last panel that is not the answer', async () => {
    const message = await refusal((batch) => ({
      ...batch,
      answer: batch.answer.map((target, i) => (i === 1 ? (target + 1) % 8 : target)),
    }));
    expect(message).toMatch(/problem 1 .*its panel 9 is not its candidate \d, the answer/);
  });
});

test.skipIf(!hasReferenceSets)('published problems are read back with their rules', async () => {
  for (const name of ['raven_distribute_nine', 'iraven_in_distribute_four_out_center_single']) {
    const source = await openSet(path.join(REFERENCE, 'sets', `${name}.npz`));
    for await (const batch of batches(source, 20)) {
      const problems = ProblemReader.of(batch).read(batch, 0);
      expect(problems.map(({ rules }) => rules)).toEqual(batch.label);
      break;
    }
    await source.close();
  }
});

describe('the part of a data set that problems belong to', () => {
  const root = scratchFolder();
  const at = (name: string): string => path.join(root, name);
  const center = findLayout('center');
  const partsIn = async (folder: string): Promise<string[]> => {
    const parts: string[] = [];
    for await (const { part } of readRavenFolder(path.join(folder, center.folder))) {
      parts.push(part);
    }
    return parts;
  };
  const made = (format: 'npz' | 'raven', out: string, rules?: object, count = 3) =>
    generate({
      layouts: [center],
      variant: 'i-raven',
      count,
      seed: 4,
      format,
      out,
      rules,
      workers: 1,
    });
  const regime = { regime: 'a-color', split: 'test' };

  test('of a regime comes back from its set, also through another set', async () => {
    await made('npz', at('test.npz'), regime);
    await convert({ input: at('test.npz'), format: 'npz', out: at('copy.npz') });
    await convert({ input: at('copy.npz'), format: 'raven', out: at('back') });
    expect(await partsIn(at('back'))).toEqual(['test', 'test', 'test']);
  });

  test('of a folder without the others comes back from the set that it became', async () => {
    await made('raven', at('folder'), regime);
    await convert({ input: at('folder'), format: 'npz', out: at('folder.npz') });
    await convert({ input: at('folder.npz'), format: 'raven', out: at('again') });
    expect(await partsIn(at('again'))).toEqual(['test', 'test', 'test']);
  });

  test('follows from the number in any other set, which holds no array for it', async () => {
    await made('npz', at('all.npz'), undefined, 10);
    const source = await openSet(at('all.npz'));
    expect((await source.read(0, 10)).part).toBeUndefined();
    await source.close();
    await convert({ input: at('all.npz'), format: 'raven', out: at('all') });
    expect((await partsIn(at('all'))).join()).toBe(
      'train,train,train,train,train,train,val,val,test,test',
    );
  });

  test.each<[string, (set: SetBatch) => SetBatch, RegExp]>([
    [
      'unknown',
      (set) => ({ ...set, part: ['exam', 'test'] as unknown as SetBatch['part'] }),
      /"part" holds "exam" instead of one of train, val, test/,
    ],
    [
      'of another count',
      (set) => ({ ...set, part: ['test'] }),
      /"part" has 1 problems, "answer" has 2/,
    ],
  ])('is refused if it is %s', async (name, change, message) => {
    const set = joinBatches(sampled(center, 'raven', 2).map(problemToBatch));
    await writeFileAtomically(at(`${name}.npz`), encodeSet(change(set)));
    await expect(openSet(at(`${name}.npz`))).rejects.toThrow(message);
  });
});

describe('a set that cannot be read back says why', () => {
  const root = scratchFolder();
  const back = async (name: string, set: SetBatch): Promise<void> => {
    const input = path.join(root, `${name}.npz`);
    await writeFileAtomically(input, encodeSet(set));
    await convert({ input, format: 'raven', out: path.join(root, name) });
  };

  test.each(['center', 'out-in-grid'] as const)('with a mesh: %s', async (configuration) => {
    const problems = Array.from({ length: 3 }, (_, index) =>
      sampleProblem({ configuration, mesh: true, seed: 3, index }),
    );
    const set = joinBatches(problems.map(problemToBatch));
    await expect(back(`mesh-${configuration}`, set)).rejects.toThrow(
      /problem 0 .* cannot be read back: it seems to have a mesh, and its lines and the figures hide each other/,
    );
  });

  test('with pictures of another program', async () => {
    const set = setOf(sampled(findLayout('center'), 'raven', 2));
    set.panel[0] = 7;
    await expect(back('other', set)).rejects.toThrow(
      'problem 0 (counted from 0) cannot be read back: its panel 1 is not drawn as that of any configuration is, pixel for pixel',
    );
  });

  test('with one damaged picture, and of which configuration it is', async () => {
    const set = setOf(sampled(findLayout('center'), 'raven', 2));
    set.panel[4 * 4096] = 7;
    await expect(back('damaged', set)).rejects.toThrow(
      'problem 0 (counted from 0) cannot be read back: its panel 5 is not drawn as center is, pixel for pixel',
    );
  });
});
