/** Pictures of answers at arbitrary positions: what is painted, kept, and drawn with systems as rows. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { formatAnswers, paintAnswers, parseAnswers } from '../../src/lab/index.js';
import { examplePictures, type PaintedAnswers } from '../../src/lab/painted-answers.js';
import { systemAnswersFigures } from '../../src/lab/report/system-answers.js';
import { toSvg } from '../../src/lab/figures/index.js';
import { systemNamed } from '../../src/models/index.js';
import { writeBundle } from '../../src/solver/node.js';
import { isTorchAvailable, noGrad, scope, tensor } from '../../src/torch/index.js';
import { openRun, train } from '../../src/training/index.js';
import { crabInProcess as crab, failureOf } from '../cli/crab-in-process.js';
import { scratchPlaces } from '../scratch-folder.js';
import { randomBundle, tinyConfig } from '../solver/random-model.js';

const file = scratchPlaces();
const CODER = { encoder: [4, 4, 8, 8, 8], decoder: [8, 8, 4, 4, 4] };
/** One whose concepts follow from those of the context, one that looks at the panels themselves. */
const NETWORKS = {
  transformer: { coder: CODER, width: 16, blocks: 1, heads: 2, hidden: 16 },
  lgpp: {
    coder: CODER,
    concepts: 3,
    axisEncoder: [4, 4, 4, 8, 8],
    axisHidden: 8,
    coordinate: 2,
    coordinateHidden: [4],
    featureHidden: [8],
  },
} as const;

const tinyTraining = (system: string, overrides: object, preset = 'ours') =>
  train({
    out: file(system),
    system,
    model: systemNamed(system).config(preset, 'center', { overrides }),
    budget: { kind: 'steps', steps: 2 },
    seed: 1,
    pool: 16,
    refresh: 0,
    threads: 1,
    workers: 1,
  });

/** Answers as a made-up system paints them. */
const madeUp = (changes: Partial<PaintedAnswers> = {}): PaintedAnswers => ({
  format: 'crab-answers',
  system: 'anp',
  preset: 'paper',
  configuration: 'left-right',
  noisy: false,
  seed: 5,
  examples: [
    [
      { missing: [3], images: [new Uint8Array(4096).fill(100)] },
      { missing: [1, 9], images: [new Uint8Array(4096), new Uint8Array(4096).fill(7)] },
    ],
  ],
  ...changes,
});

describe('answers that were kept', () => {
  test('are the same when read again, and damaged ones are refused', () => {
    const answers = madeUp();
    expect(parseAnswers(formatAnswers(answers), 'a.json')).toEqual(answers);
    const short = madeUp({
      examples: [
        [
          { missing: [3], images: [new Uint8Array(7)] },
          { missing: [1], images: [new Uint8Array(4096)] },
        ],
      ],
    });
    expect(() => parseAnswers(formatAnswers(short), 'a.json')).toThrow(/4096 bytes as base64/);
    expect(() => parseAnswers('{"format":"else"}', 'a.json')).toThrow(/a\.json: format/);
  });

  test('of different problems are not drawn side by side', () => {
    const other = madeUp({ system: 'lgpp', seed: 6 });
    expect(() => systemAnswersFigures([madeUp(), other])).toThrow(
      /LGPP \(preset .+\) was asked 1 problem of seed 6, but .+ of seed 5/,
    );
  });

  test('of one system and preset have one row: none of two is dropped without a word', () => {
    expect(() => systemAnswersFigures([madeUp(), madeUp()])).toThrow(/^L-R: two of the models are/);
  });

  test('have a row for each system and preset, in the order of the paper, and a place for what is missing', () => {
    const all = [
      madeUp(),
      madeUp({ system: 'crab', preset: 'crab' }),
      madeUp({ preset: 'ours', configuration: 'center' }),
    ];
    const [one, two] = systemAnswersFigures(all);
    const svg = toSvg(one.figure);
    const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
    expect(texts.filter((text) => ['Center', 'L-R'].includes(text))).toEqual(['Center', 'L-R']);
    expect(texts.filter((text) => /CRAB|ANP|preset/.test(text))).toEqual([
      ...['CRAB', 'preset crab', 'ANP', 'preset ours', 'ANP', 'preset paper'],
    ]);
    expect(texts.filter((text) => text === 'no model')).toHaveLength(3);
    // One frame for each panel, those of imagined ones in a colour of their own.
    const framed = (drawn: string): number => drawn.split('stroke="var(--figure-warm)"').length - 1;
    expect([framed(svg), framed(toSvg(two.figure))]).toEqual([3, 6]);
  });
});

describe.skipIf(!isTorchAvailable())('crab report --pictures', () => {
  beforeAll(async () => {
    for (const [system, network] of Object.entries(NETWORKS)) {
      await tinyTraining(system, { network, optimizer: { batchSize: 8 } });
    }
    const { manifest, files } = randomBundle(tinyConfig());
    await writeBundle(file('bundle'), manifest, files);
  });

  test.each(Object.keys(NETWORKS))('a run of %s paints what its model imputes', async (system) => {
    const painted = await paintAnswers(file(system), { examples: 2 });
    expect(painted).toMatchObject({ system, preset: 'ours', configuration: 'center' });
    expect(painted.examples.map((each) => each.map(({ missing }) => missing.length))).toEqual([
      [1, 2],
      [1, 2],
    ]);
    const trained = await (await openRun(file(system))).loadModel('best');
    const { model } = trained;
    painted.examples.forEach((answers, index) => {
      const panels = examplePictures(painted, index);
      for (const { missing, images } of answers) {
        const whole = scope(() =>
          noGrad(() => {
            const given = tensor(Float32Array.from(panels, (byte) => byte / 255));
            const matrix = given.reshape([1, 9, 64, 64]);
            const absent = [missing.map((at) => at - 1)];
            return model.impute?.(matrix, absent).reshape([9, 4096]).toNested() as number[][];
          }),
        );
        missing.forEach((at, t) => {
          const gaps = whole[at - 1].map((value, i) => Math.abs(255 * value - images[t][i]));
          expect(Math.max(...gaps)).toBeLessThan(0.6);
        });
      }
    });
    trained.dispose();
  });

  test('draws runs, bundles and kept answers side by side', async () => {
    await crab('report', '--pictures', file('lgpp'), '--save', file('lgpp.json'), '--quiet');
    const models = [file('bundle'), file('transformer'), file('lgpp.json')];
    const out = file('figures');
    const told = await crab('report', '--pictures', ...models, '--out', out, '--quiet');
    const names = ['answers-1-missing', 'answers-2-missing'];
    expect(told.trim().split('\n')).toEqual(
      names.flatMap((name) => [`${name}.svg`, `${name}.png`]).map((name) => path.join(out, name)),
    );
    const svg = readFileSync(path.join(out, 'answers-2-missing.svg'), 'utf8');
    for (const name of ['CRAB', 'Transformer', 'LGPP']) expect(svg).toContain(`>${name}<`);
    expect(svg).not.toContain('no model');
    const png = readFileSync(path.join(out, 'answers-1-missing.png'));
    expect([...png.subarray(1, 4)]).toEqual([0x50, 0x4e, 0x47]);
  });

  test('replaces figures of its own, and nothing else', async () => {
    const out = file('mine');
    mkdirSync(out);
    const draw = () => crab('report', '--pictures', file('kept.json'), '--out', out, '--quiet');
    writeFileSync(file('kept.json'), formatAnswers(madeUp()));
    await draw();
    await draw();
    for (const name of ['answers-2-missing.svg', 'answers-1-missing.png']) {
      const mine = path.join(out, name);
      const drawn = readFileSync(mine);
      writeFileSync(mine, 'mine');
      if (name.endsWith('.png')) rmSync(path.join(out, 'answers-1-missing.svg'));
      await expect(draw()).rejects.toThrow(`${mine} is not a figure that crab drew`);
      expect(readFileSync(mine, 'utf8')).toBe('mine');
      writeFileSync(mine, drawn);
    }
  });

  test('are kept by an evaluation too, the same ones', async () => {
    const kept = file('kept.json');
    const asked = ['--metrics', 'sa', '--count', '8', '--answers', kept, '--quiet'];
    await crab('evaluate', '--model', file('bundle'), ...asked);
    expect(readFileSync(kept, 'utf8')).toBe(formatAnswers(await paintAnswers(file('bundle'))));
  });

  test('what cannot be drawn is refused in one sentence', async () => {
    writeFileSync(file('no.json'), '{}');
    const refused = async (...args: string[]): Promise<string> =>
      (await failureOf('report', '--pictures', ...args, '--out', file('x'), '--quiet')).message;
    expect(await refused(file('no.json'))).toMatch(/no\.json: format/);
    expect(await refused(file('nowhere'))).toMatch(/neither a folder with a bundle\.json/);
    expect(await refused(file('lgpp'), file('bundle'), '--save', file('y.json'))).toBe(
      '--save keeps the answers of one model: name one, not 2',
    );
    await tinyTraining('cnn', { optimizer: { batchSize: 8 } }, systemNamed('cnn').presets[0]);
    const sentence = 'cnn paints no panels at arbitrary positions';
    expect(await refused(file('cnn'))).toContain(sentence);
    const kept = ['--count', '8', '--answers', file('z.json'), '--quiet'];
    const { message } = await failureOf('evaluate', '--model', file('cnn'), ...kept);
    expect(message).toBe(`--answers: ${sentence}`);
  });
});
