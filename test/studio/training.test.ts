/**
 * The Train tab against a server that speaks the contract and does nothing else: what it is told it must
 * show, and what a person presses it must send. The real server has tests of its own.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { describePanel, layoutOf, samplePanels } from '../../src/matrix/index.js';
import {
  TRAIN_API,
  type RunSummary,
  type TrainEvents,
  type TrainStatus,
} from '../../src/protocol/index.js';
import { inPageWords, valueWords } from '../../src/studio/engine/words.js';
import { momentWords } from '../../src/studio/parts/moment-words.js';
import { accuracyAt, accuracyWords } from '../../src/studio/views/train/accuracy.js';
import { CHROMIUM } from '../chromium.js';
import {
  canvasPixels,
  CLOSE,
  eventually,
  LAPTOP,
  largestDifference,
  openPage,
  PHONE,
  steadyBox,
} from './browser.js';
import { paintedGrey, SOURCE_SEED } from './bundles.js';
import { visitedSite } from './visited-site.js';

const run: RunSummary = {
  name: 'center-1',
  configuration: 'center',
  noisy: false,
  preset: 'small',
  state: 'running',
  step: 40,
  totalSteps: 100,
  accuracy: { raven: 0.5 },
  fault: null,
};
const idle: TrainStatus = {
  available: true,
  reason: null,
  command: null,
  devices: ['cpu'],
  presets: ['small'],
  runs: [],
  shown: null,
};

/** A server of the contract: keeps what it is sent, says what it is told to. */
class Trainer {
  status: TrainStatus = idle;
  readonly received: { readonly path: string; readonly body: unknown }[] = [];
  #stream: ServerResponse | null = null;

  say<Name extends keyof TrainEvents>(name: Name, event: TrainEvents[Name]): void {
    this.#stream?.write(`event: ${name}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  readonly answer = (request: IncomingMessage, response: ServerResponse, at: string): boolean => {
    if (at === `/${TRAIN_API.status}`) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(this.status));
      return true;
    }
    if (at === `/${TRAIN_API.events}`) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      this.#stream = response;
      this.say('status', this.status);
      return true;
    }
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    request.on('end', () => this.#act(at, JSON.parse(text), response));
    return true;
  };

  #act(at: string, body: unknown, response: ServerResponse): void {
    this.received.push({ path: at, body });
    const isRefused = at === `/${TRAIN_API.resume}`;
    response.writeHead(isRefused ? 409 : 200, { 'content-type': 'application/json' });
    const answer = at === `/${TRAIN_API.export}` ? { bundle: 'center' } : run;
    response.end(JSON.stringify(isRefused ? { error: 'another run is at work' } : answer));
  }
}

test('a moment is told in steps and, if known, in time', () => {
  const moments = [0, 30, 100, 1000, 10_000];
  const all = (training: Record<string, number>) =>
    moments.map((_, i) => momentWords({ moments, training }, i));
  expect(all({ seconds: 200 })).toEqual([
    'Before the first step of training',
    'After 30 steps of training, less than a second',
    'After 100 steps of training, about 2 seconds',
    'After 1,000 steps of training, about 20 seconds',
    'After 10,000 steps of training, 3.3 minutes',
  ]);
  expect(all({})[3]).toBe('After 1,000 steps of training');
});

describe('accuracy at a moment', () => {
  const points = [
    { step: 100, variant: 'RAVEN', value: 0.2 },
    { step: 300, variant: 'RAVEN', value: 0.6 },
  ];
  const at = (step: number) => accuracyAt(points, step).map(({ value }) => value);

  test('lies between the checks around it, and before the first nothing is known', () => {
    expect(at(50)).toEqual([]);
    expect(at(150)[0]).toBeCloseTo(0.3, 9);
    expect(at(400)).toEqual([0.6]);
    expect(accuracyAt(points, 300)).toEqual([{ variant: 'RAVEN', value: 0.6, isChecked: true }]);
    expect(accuracyAt(points, 150)[0].isChecked).toBe(false);
  });

  test('is told in whole percent between checks, and never rounded to all of them', () => {
    const words = (value: number, isChecked: boolean) =>
      accuracyWords({ variant: 'RAVEN', value, isChecked });
    expect(words(0.8012, false)).toBe('80% of RAVEN');
    expect(words(0.998, false)).toBe('99% of RAVEN');
    expect(words(1, false)).toBe('100% of RAVEN');
    expect(words(0.998, true)).toBe('99.8% of RAVEN');
  });
});

/** The panel painted in a matrix has one grey all over. */
async function showsGrey(matrix: Locator, grey: number): Promise<void> {
  const even = new Array<number>(4096).fill(grey);
  const painted = matrix.locator('canvas');
  await eventually(async () => largestDifference(await canvasPixels(painted), even)).toBeLessThan(
    CLOSE,
  );
}

describe.skipIf(CHROMIUM === undefined)('the Train tab', () => {
  const trainer = new Trainer();
  const site = visitedSite({ bundles: ['center', 'left-right'], api: trainer.answer });

  test('starts a run, shows it live, stops, resumes and exports it', async () => {
    const { page, errors } = await openPage(await site.browser.newContext({ viewport: LAPTOP }));
    await page.goto(`${site.url}#tab=train`);
    // What can be expected is said before, and the recording stays below.
    await eventually(() => page.locator('[data-testid=expect]').innerText()).toMatch(
      /Two minutes .* guessing is right in 12\.5%/,
    );
    await page.locator('[data-testid=recording] .live-plane').first().waitFor();
    await page.getByRole('button', { name: 'Start training' }).click();
    await eventually(() => trainer.received.length).toBe(1);
    expect(trainer.received[0].body).toMatchObject({
      configuration: 'center',
      noisy: false,
      preset: 'small',
      device: 'cpu',
      minutes: 10,
    });

    trainer.say('status', { ...idle, runs: [run], shown: run.name });
    const point = (step: number, loss: number) => ({ step, terms: { loss } });
    trainer.say('history', {
      run: run.name,
      steps: [point(1, 9), point(20, 5)],
      validations: [{ step: 20, accuracy: { raven: 0.3, 'i-raven': 0.2 } }],
    });
    trainer.say('step', {
      run: run.name,
      ...point(40, 3.25),
      totalSteps: 100,
      problemsPerSecond: 321,
      secondsLeft: 75,
    });
    trainer.say('accuracy', { run: run.name, step: 40, accuracy: { raven: 0.5, 'i-raven': 0.4 } });
    trainer.say('panels', {
      run: run.name,
      step: 40,
      source: { layout: 'center', seed: 5 },
      imagined: [Buffer.alloc(4096, 51).toString('base64')],
    });
    trainer.say('rules', {
      run: run.name,
      step: 40,
      rules: [[[0, 0]], [[1, 1]], [[1.1, 1]]],
      truth: [['Size: constant'], ['Size: progression'], ['Size: progression']],
      prior: null,
    });
    trainer.say('note', { run: run.name, level: 'warning', text: 'the disk is nearly full' });

    await page.getByText('Step 40 of 100').waitFor();
    await eventually(() => page.locator('.controls').innerText()).toMatch(
      /321 matrices a second · 75 s left/,
    );
    await eventually(() => page.getByLabel('How far from its goal: 3.25').count()).toBe(1);
    await eventually(() => page.getByLabel('Accuracy: RAVEN 50.0%, I-RAVEN 40.0%').count()).toBe(1);
    await eventually(() => page.locator('.train-grid .curve svg path').count()).toBeGreaterThan(1);
    const live = page.locator('.imagined-panels .imagined-matrix');
    await showsGrey(live, 0.2);
    await eventually(() => live.locator('.cell .drawing').count()).toBe(8);
    await eventually(() => live.locator('.compared .drawing').count()).toBe(1);
    await eventually(() =>
      page.locator('.live-rules .live-plane [aria-label=dot] path').count(),
    ).toBe(3);
    await page.getByText('the disk is nearly full').waitFor();

    await page.getByRole('button', { name: 'Stop' }).click();
    await eventually(() => trainer.received.at(-1)).toEqual({
      path: `/${TRAIN_API.stop}`,
      body: { name: run.name },
    });
    trainer.say('status', { ...idle, runs: [{ ...run, state: 'stopped' }], shown: run.name });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('another run is at work').waitFor();
    await page.getByRole('button', { name: 'Export and play' }).click();
    await eventually(() => page.url()).toContain('model=center');
    await page.locator('.candidates').waitFor();
    expect(errors).toEqual([]);
  });

  test('without libtorch it says why, what installs it, and plays a recorded training', async () => {
    trainer.status = {
      ...idle,
      available: false,
      reason: 'libtorch is not installed.',
      command: 'npm run setup:torch',
      devices: [],
    };
    const { page, errors } = await openPage(await site.browser.newContext({ viewport: LAPTOP }));
    await page.goto(`${site.url}#tab=train`);
    await page.getByText('libtorch is not installed.').waitFor();
    await eventually(() => page.locator('pre').innerText()).toBe('npm run setup:torch');
    expect(await page.getByRole('button', { name: 'Start training' }).count()).toBe(0);

    const recording = page.locator('[data-testid=recording]');
    const planes = recording.locator('.live-plane');
    await eventually(() => planes.locator('figcaption').allInnerTexts()).toEqual([
      'Shape',
      'Size',
      'Colour',
      'Concept 4',
    ]);
    await eventually(() => planes.first().locator('[aria-label=dot] path').count()).toBe(60);
    const curve = recording.getByLabel(
      'How much a missing panel surprises it: from 90.0 bits to 5.5 bits',
    );
    await eventually(() => curve.locator('svg').textContent()).toMatch(/bits.*0.*50/s);
    // Only the curves that have a meaning for people.
    await eventually(() => recording.locator('.chart').count()).toBe(3);
    // A likelihood of thousands of nats is told as the error of a pixel.
    const drawing = recording.getByLabel(
      'How far off it draws a panel that it sees: from 20.0% to 1.5%',
    );
    await eventually(() => drawing.locator('svg').textContent()).toMatch(/0%.*20%.*perfect copy/s);
    const accuracy = recording.getByLabel('Accuracy: RAVEN 50.0%, I-RAVEN 75.0%');
    await eventually(() => accuracy.locator('svg path').count()).toBeGreaterThan(0);

    await recording.locator('.legend .term', { hasText: 'progression −2' }).focus();
    await page.getByText('Two steps down from each panel of a row to the next.').waitFor();

    const picture = (): Promise<string> => planes.first().locator('[aria-label=dot]').innerHTML();
    await recording.getByText('After 2,000 steps of training').waitFor();
    const trained = await picture();
    const then = recording.locator('[data-testid=accuracy-then]');
    expect(await then.innerText()).toBe(
      'It chose right in 50.0% of RAVEN and 75.0% of I-RAVEN. This is the model you play with.',
    );
    const slider = recording.getByLabel('Moment of training');
    await slider.press('Home');
    await recording.getByText('After 100 steps of training').waitFor();
    await eventually(picture).not.toBe(trained);
    expect(await then.innerText()).toBe(
      'Its choices were first counted after 1,000 steps; guessing is right in 12.5%.',
    );
    // Whoever moves the slider while it plays stops it.
    await page.evaluate(`document.querySelector('.play-moments').click();
      document.querySelector('.moments input').dispatchEvent(new Event('input', { bubbles: true }));`);
    expect(await recording.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    await recording.getByText('After 100 steps of training').waitFor();

    await recording.getByRole('button', { name: 'Play its training' }).click();
    await recording.getByText('After 2,000 steps of training').waitFor();
    await eventually(picture).toBe(trained);
    await recording.getByRole('button', { name: 'Play its training' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('the panels a model painted play along with its training, beside the true ones', async () => {
    const { page, errors } = await openPage(
      await site.fresh({ viewport: LAPTOP, reducedMotion: 'reduce' }),
    );
    await page.goto(`${site.url}#tab=train&config=center&moment=0`);
    const recording = page.locator('[data-testid=recording]');
    const matrices = recording.locator('.imagined-matrix');
    await recording.getByText('After 100 steps of training').waitFor();
    await eventually(() => matrices.count()).toBe(4);
    for (let n = 0; n < 4; n++) await showsGrey(matrices.nth(n), paintedGrey(0, n));
    // The true panel is that of the rule map's own matrix of that number.
    const source = { configuration: 'center', noisy: false, seed: SOURCE_SEED, index: 2 } as const;
    const [, , , , , , , , last] = samplePanels(source).panels;
    const alt = describePanel(inPageWords(layoutOf('center')), last, valueWords);
    await eventually(() =>
      matrices.nth(2).locator('.compared .drawing').getAttribute('aria-label'),
    ).toBe(alt);
    await eventually(() => matrices.nth(2).locator('.cell .drawing').count()).toBe(8);

    await recording.getByRole('button', { name: 'Play its training' }).click();
    await recording.getByText('After 2,000 steps of training').waitFor();
    for (let n = 0; n < 4; n++) await showsGrey(matrices.nth(n), paintedGrey(1, n));
    await recording.getByRole('button', { name: 'Play its training' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('on a phone what moves the film stays in sight, and letters of the curves keep their size', async () => {
    const { page, errors } = await openPage(await site.fresh(PHONE));
    await page.goto(`${site.url}#tab=train&config=center`);
    const recording = page.locator('[data-testid=recording]');
    const curves = recording.locator('.curve');
    const charts = curves.locator('svg:has([aria-label="x-axis tick"])');
    await eventually(() => charts.count()).toBe(3);
    const sizes =
      await page.evaluate(`[...document.querySelectorAll('.recording .curve')].map((curve) =>
      [curve.clientWidth, Number(curve.querySelector('svg:has([aria-label="x-axis tick"])').getAttribute('width'))])`);
    for (const [wide, drawn] of sizes as [number, number][]) {
      expect(wide).toBeGreaterThan(200);
      expect(drawn).toBe(wide);
    }
    await recording.locator('.legend').scrollIntoViewIfNeeded();
    const bar = await steadyBox(recording.getByLabel('Moment of training'));
    expect(bar.y).toBeGreaterThanOrEqual(0);
    expect(bar.y).toBeLessThan(100);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    // Nor does it cover what the keyboard goes to.
    await page.evaluate(`scrollTo(0, document.body.scrollHeight)`);
    const term = recording.locator('.legend .term').first();
    await term.focus();
    expect((await steadyBox(term)).y).toBeGreaterThan(bar.y + bar.height);
    expect(errors).toEqual([]);
  });

  test('a model that keeps no painted panels says so', async () => {
    const { page, errors } = await openPage(await site.fresh({ viewport: LAPTOP }));
    await page.goto(`${site.url}#tab=train&config=left-right`);
    await page.getByText('What it painted meanwhile was not kept').waitFor();
    await page.locator('[data-testid=recording] .live-plane svg').first().waitFor();
    expect(await page.locator('.imagined-matrix').count()).toBe(0);
    expect(errors).toEqual([]);
  });
});
