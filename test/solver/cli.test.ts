/** `crab solve`, `crab evaluate` and `crab export` as commands: results, pictures, refusals. */
import { Command } from 'commander';
import { encode } from 'jpeg-js';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  contactSheet,
  contactSheetOfImages,
  decodePng,
  encodePng,
  encodeRavenNpz,
  encodeSet,
  layoutOf,
  matrixPanels,
  problemToSvg,
  problemToBatch,
  renderPanel,
  renderProblem,
  sampleProblem,
  type GreyImage,
} from '../../src/matrix/index.js';
import { decodeSvg } from '../../src/matrix/node.js';
import { define } from '../../src/cli/solve.js';
import { readProblem, recogniseProblem, Solver, writeBundle } from '../../src/solver/node.js';
import { otherPanels } from './other-pictures.js';
import { scratchFolder } from '../scratch-folder.js';
import { crabInProcess as crab } from '../cli/crab-in-process.js';
import { randomBundle, tinyConfig } from './random-model.js';
import { makeRun } from './made-run.js';
import { words } from '../cli/words.js';

const folder = scratchFolder();
const file = (name: string): string => path.join(folder, name);
const problem = sampleProblem({
  configuration: 'center',
  noisy: false,
  variant: 'raven',
  seed: 3,
  index: 1,
});

beforeAll(async () => {
  const { manifest, files } = randomBundle(tinyConfig());
  await writeBundle(file('bundle'), manifest, files);
  writeFileSync(file('RAVEN_1_train.npz'), encodeRavenNpz(problem, renderProblem(problem).images));
  writeFileSync(file('sheet.png'), encodePng(contactSheet(problem, { markAnswer: false })));
  mkdirSync(file('panels'));
  matrixPanels(problem).forEach((panel, i) => {
    const data = renderPanel(layoutOf('center'), panel);
    const png = encodePng({ width: 160, height: 160, channels: 1, data });
    writeFileSync(file(`panels/${i + 1}.png`), png);
  });
  writeFileSync(file('set.npz'), encodeSet(problemToBatch(problem)));
});

/** A picture as a camera would store it. */
function jpegOf({ width, height, data }: GreyImage): Uint8Array {
  const rgba = new Uint8Array(4 * width * height);
  data.forEach((value, i) => rgba.fill(Math.round(255 * value), 4 * i, 4 * i + 4));
  return encode({ width, height, data: rgba }, 85).data;
}

interface SolveReport {
  readonly missing: number[];
  readonly choice: {
    readonly index: number;
    readonly number: number;
    readonly candidates: readonly { readonly probability: number }[];
    readonly identical: number[][];
  } | null;
  readonly answer: number | null;
}

const solveJson = async (...args: string[]): Promise<SolveReport> =>
  JSON.parse(await crab('solve', ...args, '--model', file('bundle'), '--json')) as SolveReport;

describe('crab solve', () => {
  test('a RAVEN problem, its picture and its images give the same choice', async () => {
    const raven = await solveJson(file('RAVEN_1_train.npz'));
    expect(raven.answer).toBe(problem.target + 1);
    expect(raven.missing).toEqual([9]);
    expect(raven.choice?.candidates).toHaveLength(8);
    const sheet = await solveJson(file('sheet.png'));
    expect(sheet.missing).toEqual([9]);
    expect(sheet.choice?.number).toBe(raven.choice?.number);
    const images = await solveJson(file('panels'), '--missing', '9,2');
    expect(images.missing).toEqual([2, 9]);
    expect(images.choice).toBeNull();
  });

  test('counts candidates from 1, whatever it tells of them', async () => {
    const { choice } = await solveJson(file('RAVEN_1_train.npz'));
    const shares = choice?.candidates.map(({ probability }) => probability) ?? [];
    expect(choice?.index).toBe(shares.indexOf(Math.max(...shares)) + 1);
    expect(choice?.number).toBe(choice?.index);
    expect(choice?.identical).toEqual([]);
  });

  test('says which candidates are the same picture', async () => {
    const images = renderProblem(problem).images.slice();
    const [size, second, fifth] = [160 * 160, 9, 12];
    images.copyWithin(fifth * size, second * size, (second + 1) * size);
    writeFileSync(file('twins.npz'), encodeRavenNpz(problem, images));
    const { choice } = await solveJson(file('twins.npz'));
    expect(choice?.identical).toEqual([[2, 5]]);
    const text = await crab('solve', file('twins.npz'), '--model', file('bundle'));
    expect(text).toContain('candidates 2 and 5 are the same picture\n');
    const solver = await Solver.load(file('bundle'));
    const { panels, candidates } = await readProblem(file('twins.npz'));
    const chosen = await solver.choose(await solver.solve(panels), candidates);
    expect(chosen.identical).toEqual([[1, 4]]);
    expect(chosen.candidates[1].probability).toBe(chosen.candidates[4].probability);
    await solver.dispose();
  });

  test('two candidates that only look alike once they are drawn anew are not the same picture', async () => {
    const [like] = problem.candidates;
    const candidates = problem.candidates.map((each, i) => (i === 4 ? { ...each, ...like } : each));
    const svg = problemToSvg({ ...problem, candidates }, { markAnswer: false });
    const found = await readProblem(await decodeSvg(new TextEncoder().encode(svg)));
    expect(found.candidates).toHaveLength(8);
    // A speck in the first candidate, which is lost when it is drawn anew.
    const first = found.candidates[0].slice();
    first[5 * 64 + 5] = 0;
    const {
      problem: read,
      originals,
      redrawn,
    } = recogniseProblem({
      ...found,
      candidates: [first, ...found.candidates.slice(1)],
    });
    expect(redrawn).toBeGreaterThan(8);
    expect(read.candidates[0]).toEqual(read.candidates[4]);
    expect(originals[0]).toBe(first);
    const solver = await Solver.load(file('bundle'));
    const answer = await solver.solve(read.panels);
    const choose = async (given?: readonly Float32Array[]): Promise<unknown> =>
      (await solver.choose(answer, read.candidates, { originals: given })).identical;
    expect(await choose(originals)).toEqual([]);
    expect(await choose()).toEqual([[0, 4]]);
    await expect(choose(originals.slice(1))).rejects.toThrow('7 originals of 8 candidates');
    await solver.dispose();
  });

  test('says why no candidate is chosen if more than one panel is missing', async () => {
    const of = [file('sheet.png'), '--model', file('bundle')];
    expect(await crab('solve', ...of, '--missing', '3,9')).toContain(
      'imagined panels 3, 9\nno candidate is chosen: panels 3 and 9 are missing, and a candidate is one panel alone\n',
    );
    expect(await crab('solve', ...of)).not.toContain('no candidate');
    // Where nothing is offered, nothing has to be said.
    expect(
      await crab('solve', file('panels'), '--model', file('bundle'), '--missing', '3,9'),
    ).not.toContain('no candidate');
  });

  test('chooses only for the panel that candidates are for: the blank one, or else the last', async () => {
    const images = renderProblem(problem).images.slice();
    const sheetOf = (name: string): string[] => {
      const pictures = { size: 160, images, target: problem.target };
      const sheet = contactSheetOfImages(pictures, { markAnswer: false, fillIn: true });
      writeFileSync(file(name), encodePng(sheet));
      return [file(name), '--model', file('bundle')];
    };
    const whole = sheetOf('whole.png');
    expect(await crab('solve', ...whole, '--missing', '5')).toBe(
      'imagined panel 5\nno candidate is chosen: panel 5 is missing, and candidates are for panel 9\n',
    );
    const { choice } = await solveJson(...whole.slice(0, 1), '--missing', '5');
    expect(choice).toBeNull();
    expect(await crab('solve', ...whole, '--missing', '9')).toMatch(/panel 9\ncandidate \d/);
    const panelBytes = 160 * 160;
    images.fill(255, 4 * panelBytes, 5 * panelBytes);
    expect(await crab('solve', ...sheetOf('blank-5.png'))).toMatch(/panel 5\ncandidate \d/);
  });

  test('its help tells every field of a candidate', async () => {
    const told: string[] = [];
    const command = new Command().configureOutput({ writeOut: (text) => void told.push(text) });
    define(command, new AbortController().signal);
    command.outputHelp();
    const help = told.join('').replace(/\s+/g, ' ');
    expect(help).toContain('Candidates about as close as the closest are painted');
    const solver = await Solver.load(file('bundle'));
    const { panels, candidates } = await readProblem(file('sheet.png'));
    const choice = await solver.choose(await solver.solve(panels), candidates);
    for (const field of Object.keys(choice.candidates[0])) expect(help).toContain(`"${field}"`);
    await solver.dispose();
  });

  test.each([255, 128, 0])('a ninth image of the shade %i is a blank', async (shade) => {
    const data = new Uint8Array(160 * 160).fill(shade);
    const blank = file(`blank-${shade}`);
    cpSync(file('panels'), blank, { recursive: true });
    writeFileSync(
      path.join(blank, '9.png'),
      encodePng({ width: 160, height: 160, channels: 1, data }),
    );
    expect((await solveJson(blank)).missing).toEqual([9]);
    for (let i = 1; i < 9; i++) cpSync(path.join(blank, '9.png'), path.join(blank, `${i}.png`));
    await expect(solveJson(blank)).rejects.toThrow(/nothing is drawn on any of its images/);
  });

  test('JPEG pictures, of a matrix and of panels', async () => {
    const sheet = decodePng(readFileSync(file('sheet.png')));
    for (const name of ['sheet.jpg', 'sheet.JPEG']) {
      writeFileSync(file(name), jpegOf(sheet));
      const found = await solveJson(file(name));
      expect(found.missing).toEqual([9]);
      expect(found.choice?.candidates).toHaveLength(8);
    }
    mkdirSync(file('photos'));
    for (let i = 1; i <= 9; i++) {
      const panel = decodePng(readFileSync(file(`panels/${i}.png`)));
      writeFileSync(file(`photos/${i}.jpg`), jpegOf(panel));
    }
    const [own, exact] = [await readProblem(file('photos')), await readProblem(file('panels'))];
    expect(own.missing).toEqual([]);
    own.panels.forEach((panel, i) => {
      const off = [...(panel ?? [])].reduce(
        (sum, value, at) => sum + Math.abs(value - (exact.panels[i]?.[at] ?? 9)),
        0,
      );
      expect(off / 4096).toBeLessThan(0.02);
    });
  });

  test('a run is to be exported first', async () => {
    const run = file('trained');
    mkdirSync(run);
    writeFileSync(path.join(run, 'config.json'), '{}');
    await expect(crab('solve', file('sheet.png'), '--model', run)).rejects.toThrow(
      `${run} is a run of training, not a bundle: export it first, crab export ${run} --out FOLDER, and name that folder (runs of crab and transformer become bundles)`,
    );
  });

  test('writes the completed matrix with the answer framed', async () => {
    const out = file('completed.png');
    await solveJson(file('panels'), '--missing', '9', '--out', out);
    const { width, height } = decodePng(readFileSync(out));
    expect(width).toBe(height);
    expect(width).toBeGreaterThan(3 * 64);
    // Its own picture is replaced, another is not.
    await solveJson(file('panels'), '--missing', '8', '--out', out);
    cpSync(file('sheet.png'), out);
    await expect(solveJson(file('sheet.png'), '--out', out)).rejects.toThrow(
      /completed\.png: this file exists and is not a picture that crab wrote/,
    );
    expect(readFileSync(out)).toEqual(readFileSync(file('sheet.png')));
    // Nor an empty one: somebody may have made it for a purpose.
    writeFileSync(out, '');
    await expect(solveJson(file('panels'), '--missing', '9', '--out', out)).rejects.toThrow(
      /this file exists and is not a picture that crab wrote/,
    );
  });

  test('a folder of RAVEN problems is no problem: one of its files is named', async () => {
    const many = file('center_single');
    mkdirSync(many);
    writeFileSync(path.join(many, 'RAVEN_3_test.npz'), '');
    await expect(crab('solve', many)).rejects.toThrow(
      `${many} holds many problems: name one of its files, such as ${path.join(many, 'RAVEN_3_test.npz')}`,
    );
  });

  test('explains itself in tables', async () => {
    const text = await crab('solve', file('sheet.png'), '--model', file('bundle'), '--explain');
    expect(text).toMatch(/^imagined panel 9\ncandidate \d \(\d+\.\d%\)\n/);
    expect(text).toMatch(/concept +rule +deviation +category\nSize /);
    expect(text.match(/^[> ] \d /gm)).toHaveLength(8);
  });

  test('says what is wrong', async () => {
    const model = ['--model', file('bundle')];
    await expect(crab('solve', file('panels'), ...model)).rejects.toThrow(/--missing/);
    await expect(crab('solve', file('sheet.png'), ...model, '--missing', '3')).rejects.toThrow(
      /panel 9 is blank/,
    );
    await expect(crab('solve', file('panels'), ...model, '--missing', 'x')).rejects.toThrow(
      /positions of 1 to 9/,
    );
    await expect(crab('solve', file('sheet.png'), '--model', 'nothing')).rejects.toThrow(/zoo/);
    writeFileSync(file('text.txt'), 'hello');
    await expect(crab('solve', file('text.txt'), ...model)).rejects.toThrow(/expected a RAVEN/);
    writeFileSync(file('broken.png'), 'hello');
    await expect(crab('solve', file('broken.png'), ...model)).rejects.toThrow(
      /broken.png: not a PNG or JPEG/,
    );
    writeFileSync(file('broken.npz'), 'hello');
    await expect(crab('solve', file('broken.npz'), ...model)).rejects.toThrow(/broken.npz/);
  });
});

const zoo = path.resolve(import.meta.dirname, '../../zoo');
const hasCenter = existsSync(path.join(zoo, 'center', 'bundle.json'));

describe.skipIf(!hasCenter)('crab solve with a published model', () => {
  const model = ['--model', path.join(zoo, 'center')];
  const of = sampleProblem({
    configuration: 'grid-3x3',
    noisy: false,
    variant: 'i-raven',
    seed: 5,
    index: 0,
  });

  test('is sure of pictures of its own kind', async () => {
    const text = await crab('solve', file('sheet.png'), ...model);
    expect(text).toMatch(/^imagined panel 9\ncandidate \d \(\d+\.\d%\)\n$/);
    const report = JSON.parse(await crab('solve', file('sheet.png'), ...model, '--json')) as {
      unknown: number[];
      choice: { confidence: number };
    };
    expect(report.unknown).toEqual([]);
    expect(report.choice.confidence).toBeGreaterThan(0.1);
  });

  test('does not know pictures of another kind, and is not sure of its answer', async () => {
    const other = file('other.png');
    writeFileSync(other, encodePng(contactSheet(of, { markAnswer: false })));
    const text = await crab('solve', other, ...model, '--explain');
    expect(text).toMatch(
      /^this model does not know such pictures: it was trained on Center alone and panels \d(, \d)+ come out as something else \(they look like grid-3x3\), so what follows is a guess\nimagined panel 9\ncandidate \d \(a guess\)\n/,
    );
    expect(text).not.toContain('%');
    const report = JSON.parse(await crab('solve', other, ...model, '--json')) as {
      unknown: number[];
      rules: { categories: unknown }[];
      choice: { number: number; confidence: unknown; candidates: { probability: unknown }[] };
    };
    expect(report.unknown.length).toBeGreaterThan(3);
    expect(report.unknown).not.toContain(9);
    expect(report.choice.number).toBeGreaterThan(0);
    expect(report.choice.confidence).toBeNull();
    expect(report.choice.candidates.every(({ probability }) => probability === null)).toBe(true);
    expect(report.rules.every(({ categories }) => categories === null)).toBe(true);
  });

  test('finds the model by itself: for a picture, a drawing and a RAVEN file', async () => {
    writeFileSync(file('of.png'), encodePng(contactSheet(of, { markAnswer: false })));
    writeFileSync(file('of.svg'), problemToSvg(of, { markAnswer: false }));
    writeFileSync(file('of.npz'), encodeRavenNpz(of, renderProblem(of).images));
    for (const name of ['of.png', 'of.svg', 'of.npz']) {
      const report = JSON.parse(await crab('solve', file(name), '--json')) as {
        model: string;
        unknown: number[];
        choice: { number: number };
      };
      expect([name, report.model, report.unknown]).toEqual([name, 'grid-3x3', []]);
      expect([name, report.choice.number]).toEqual([name, of.target + 1]);
    }
    const text = await crab('solve', file('of.svg'));
    expect(text).toMatch(
      /^these are panels of grid-3x3\n\d+ pictures in another style were drawn anew\nimagined panel 9\n/,
    );
  });

  test('says that no model knows letters, and that none is there for noise', async () => {
    mkdirSync(file('letters'));
    (await otherPanels('letters', 12)).forEach((panel, i) => {
      const data = Uint8Array.from(panel, (value) => Math.round(255 * value));
      const png = encodePng({ width: 64, height: 64, channels: 1, data });
      writeFileSync(file(`letters/${i + 1}.png`), png);
    });
    await expect(crab('solve', file('letters'))).rejects.toThrow(
      /letters: no model knows such pictures; --model names one/,
    );
    const noisy = sampleProblem({ configuration: 'grid-2x2', noisy: true, seed: 8, index: 0 });
    writeFileSync(file('noisy.png'), encodePng(contactSheet(noisy, { markAnswer: false })));
    await expect(crab('solve', file('noisy.png'))).rejects.toThrow(
      /these are panels of grid-2x2-noisy, and no model of that name is in the zoo/,
    );
  });

  test('refuses a mesh alike as a file and as a picture; a named model may try both', async () => {
    const mesh = sampleProblem({ configuration: 'center', mesh: true, seed: 8, index: 0 });
    writeFileSync(file('mesh.npz'), encodeRavenNpz(mesh, renderProblem(mesh).images));
    writeFileSync(file('mesh.png'), encodePng(contactSheet(mesh, { markAnswer: false })));
    await expect(crab('solve', file('mesh.npz'))).rejects.toThrow(
      /these are panels of center-mesh, and no model of that name is in the zoo/,
    );
    await expect(crab('solve', file('mesh.png'))).rejects.toThrow(
      /these are panels of center-mesh, and no model of that name is in the zoo|no model knows such/,
    );
    for (const name of ['mesh.npz', 'mesh.png']) {
      expect(await crab('solve', file(name), '--model', 'center')).toMatch(
        /what follows is a guess/,
      );
    }
  });

  test('does not know a RAVEN file of strange panels', async () => {
    const { images } = renderProblem(of);
    const strange = Uint8Array.from(images, (_, i) => (i * 37) % 256);
    writeFileSync(file('strange.npz'), encodeRavenNpz(of, strange));
    const { unknown } = JSON.parse(await crab('solve', file('strange.npz'), '--json')) as {
      unknown: number[];
    };
    expect(unknown).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('crab evaluate', () => {
  test('counts right choices by both distances', async () => {
    const text = await crab(
      ...words`evaluate --model ${file('bundle')} --data ${file('set.npz')} --json --quiet`,
    );
    const report = JSON.parse(text) as Record<string, number>;
    expect(report.count).toBe(1);
    expect([0, 1]).toContain(report.sa);
    expect([0, 1]).toContain(report.saL2);
  });

  test('knows its metrics', async () => {
    await expect(
      crab('evaluate', '--model', 'x', '--data', 'y', '--metrics', 'beauty'),
    ).rejects.toThrow(/--metrics beauty/);
  });
});

describe('crab export', () => {
  const CHECKPOINT = 'checkpoint-00000005.safetensors';
  const shortRun = (name: string): string =>
    makeRun(file(name), {
      model: tinyConfig(),
      steps: 5,
      metrics: [
        {
          kind: 'train',
          step: 5,
          epoch: 0,
          learningRate: 1,
          terms: { loss: 2.5 },
          wall: { seconds: 1 },
        },
      ],
      checkpoint: CHECKPOINT,
    });

  test('makes a bundle that loads, with statistics, history and accuracy', async () => {
    const out = file('exported');
    const args = ['--problems', '64', '--judged', '4', '--quiet', '--json'];
    const report = JSON.parse(await crab('export', shortRun('run'), '--out', out, ...args)) as {
      step: number;
      accuracy: { problems: number };
    };
    expect(report.step).toBe(5);
    expect(report.accuracy.problems).toBe(4);
    const solver = await Solver.load(out);
    expect(solver.history).toEqual([{ name: 'loss', steps: [5], values: [2.5] }]);
    const raven = await solver.solve(
      problem.context.map((panel) => {
        const data = renderPanel(layoutOf('center'), panel);
        return { width: 160, height: 160, data };
      }),
    );
    expect(raven.rules).toHaveLength(4);
    const choice = await solver.choose(raven, [
      new Float32Array(4096),
      new Float32Array(4096).fill(1),
    ]);
    expect(choice.distance).toBe('calibrated');
    await solver.dispose();
  });

  test('refuses a bad --out before it looks at the run', async () => {
    const noRun = file('panels');
    await expect(crab('export', noRun, '--out', noRun, '--quiet')).rejects.toThrow(
      `${noRun} holds other things than a bundle: name another folder`,
    );
    await expect(crab('export', noRun, '--out', file('set.npz'))).rejects.toThrow(/is a file/);
  });

  test('refuses what is no run, and a run without weights', async () => {
    await expect(crab('export', file('panels'), '--out', file('x'))).rejects.toThrow(/not a run/);
    const run = shortRun('empty');
    rmSync(path.join(run, CHECKPOINT));
    await expect(crab('export', run, '--out', file('x'), '--quiet')).rejects.toThrow(
      /no checkpoint/,
    );
  });
});
