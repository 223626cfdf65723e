/** Training for the page with a tiny model, whose runs take seconds; the real thing otherwise. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findLayout, render64Into, samplePanels } from '../../src/matrix/index.js';
import type { CrabModel } from '../../src/models/index.js';
import { startStudio, type StudioServer } from '../../src/server/index.js';
import type { ExportedBundle, PanelsUpdate, RunSummary } from '../../src/protocol/index.js';
import { Solver } from '../../src/solver/node.js';
import { isTorchAvailable, scope, tensor } from '../../src/torch/index.js';
import { openRun } from '../../src/training/index.js';
import { tinyModel } from '../training/tiny.js';
import { scratchFolder } from '../scratch-folder.js';
import { Listener } from './listener.js';
import { act, errorOf, runOf, start, state, status } from './runs.js';
import { ask, json, makeSite, type Site } from './site.js';
import { TINY_TRAINING } from './tiny-training.js';

const { network } = tinyModel();
const folder = scratchFolder();
let site: Site;

/** The last panels of matrices as the newest checkpoint of a run imagines them. */
async function imaginedBy(run: string, { source, imagined }: PanelsUpdate): Promise<string[]> {
  const trained = await (await openRun(run)).loadModel('latest');
  try {
    return scope(() => {
      const layout = findLayout(source.layout);
      const bytes = new Uint8Array(imagined.length * 9 * 4096);
      imagined.forEach((_, index) => {
        const { configuration, noisy } = layout;
        const matrix = samplePanels({ configuration, noisy, seed: source.seed, index });
        matrix.panels.forEach((panel, n) =>
          render64Into(layout, panel, bytes, (9 * index + n) * 4096),
        );
      });
      const shape = [imagined.length, 9, 64, 64];
      const panels = tensor(bytes, { shape }).to({ dtype: 'f32' }).div(255);
      const missing = imagined.map(() => [8]);
      const whole = (trained.model as CrabModel).impute(panels, missing); // [N, 9, 64, 64]
      const last = whole.select(1, 8).mul(255).round().to({ dtype: 'u8' });
      const values = last.contiguous().data() as Uint8Array;
      return imagined.map((_, n) =>
        Buffer.from(values.subarray(n * 4096, (n + 1) * 4096)).toString('base64'),
      );
    });
  } finally {
    trained.dispose();
  }
}

beforeAll(async () => {
  site = await makeSite(folder);
});

describe.skipIf(!isTorchAvailable())('a run from its start to a model', () => {
  const NAME = 'center-small-5';
  let studio: StudioServer;
  let port: number;
  let listener: Listener;

  beforeAll(async () => {
    studio = await startStudio({ ...site, training: TINY_TRAINING });
    port = studio.port;
    listener = await Listener.connect(port);
  });
  afterAll(async () => {
    listener.close();
    await studio.close();
  });

  test.each([
    [{ configuration: 'moon' }, /unknown configuration "moon"/],
    [{ configuration: 7 }, /configuration: expected/],
    [{ noisy: true }, /has no noisy form/],
    [{ noisy: 'yes' }, /noisy: expected true or false/],
    [{ preset: 'paper' }, /preset: expected one of small, crab/],
    [{ device: 'cuda:77' }, /device: expected .*cpu/],
    [{ minutes: 0 }, /minutes: expected a number/],
    [{ minutes: '5' }, /minutes: expected a number/],
    [{ seed: 1.5 }, /seed: expected a whole number/],
    [{ out: '/etc' }, /unknown key "out": expected configuration, noisy/],
  ])('%j is refused', async (changes, error) => {
    const reply = await start(port, changes);
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatch(error);
    expect(studio.trainerPid).toBeNull();
  });

  test('it starts and is shown as it learns', async () => {
    const first = await listener.until('status');
    expect(first).toMatchObject({ available: true, reason: null, command: null, shown: null });
    expect(first.devices[0]).toBe('cpu');
    expect(first.presets).toEqual(['small', 'crab']);

    const begun = await start(port);
    expect(begun.status).toBe(200);
    expect(json(begun)).toEqual({
      name: NAME,
      configuration: 'center',
      noisy: false,
      preset: 'small',
      state: 'starting',
      step: 0,
      totalSteps: null,
      accuracy: null,
      fault: null,
    });
    const again = await start(port);
    expect([again.status, errorOf(again)]).toEqual([409, expect.stringContaining(NAME)]);
    expect((await act(port, 'resume', 'nothing')).status).toBe(404);

    await state(listener, NAME, 'running');
    const step = await listener.until('step');
    expect(step.run).toBe(NAME);
    expect(step.terms.loss).toBeTypeOf('number');
    expect(step.problemsPerSecond).toBeGreaterThan(0);
    const { accuracy } = await listener.until('accuracy');
    expect(Object.keys(accuracy)).toEqual(['raven', 'i-raven']);
    const panels = await listener.until('panels');
    expect(panels.source.layout).toBe('center');
    expect(panels.imagined).toHaveLength(2);
    for (const painted of panels.imagined) {
      expect(Buffer.from(painted, 'base64')).toHaveLength(64 * 64);
    }
    const rules = await listener.until('rules', ({ prior }) => prior !== null);
    expect(rules.prior).toHaveLength(network.concepts);
    expect(rules.prior?.[0].means[0]).toHaveLength(network.ruleSize);
    expect(rules.rules).toHaveLength(40);
    expect(rules.rules[0]).toHaveLength(network.concepts);
    expect(rules.rules[0][0]).toHaveLength(network.ruleSize);
    expect(rules.truth).toHaveLength(40);
    expect(rules.truth[0].join(' ')).toMatch(/Type: .* Size: .* Color: /);
  });

  test('it stops with a checkpoint, and what was shown is really the model’s', async () => {
    expect((await act(port, 'export', NAME)).status).toBe(409);
    const stopping = await act(port, 'stop', NAME);
    expect(json<RunSummary>(stopping).state).toBe('stopping');
    const stopped = runOf(await state(listener, NAME, 'stopped'), NAME);
    const run = await openRun(path.join(site.runs, NAME));
    expect((await run.steps()).latest).toBe(stopped?.step);
    expect(run.config.model).toMatchObject({ network });
    expect(studio.trainerPid).toBeNull();
    const last = await listener.until('panels', ({ step }) => step === stopped?.step);
    expect(last.imagined).toEqual(await imaginedBy(run.folder, last));
    expect((await act(port, 'stop', NAME)).status).toBe(409);
  });

  test('who comes later is told what there is', async () => {
    const late = await Listener.connect(port);
    const { shown } = await late.until('status');
    const history = await late.until('history');
    const panels = await late.until('panels');
    const rules = await late.until('rules');
    late.close();
    expect([shown, history.run, panels.run, rules.run]).toEqual([NAME, NAME, NAME, NAME]);
    expect(history.steps.length).toBeGreaterThan(0);
    expect(history.validations.length).toBeGreaterThan(0);
    const order = history.steps.map(({ step }) => step);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test('another server on the same folder knows it, and goes on with it', async () => {
    const before = runOf(await status(port), NAME);
    const other = await startStudio({ ...site, training: TINY_TRAINING });
    const ear = await Listener.connect(other.port);
    const found = runOf(await ear.until('status'), NAME);
    expect(found).toMatchObject({ state: 'stopped', step: before?.step, preset: 'small' });
    expect((await ear.until('history')).validations.length).toBeGreaterThan(0);
    expect(json<RunSummary>(await act(other.port, 'resume', NAME)).step).toBe(before?.step);
    const more = await ear.until('step', ({ step }) => step > (before?.step ?? 0));
    expect(more.run).toBe(NAME);
    // Meanwhile the first server must leave it alone.
    const from = listener.heard.length;
    expect((await act(port, 'resume', NAME)).status).toBe(200);
    const refused = runOf(await state(listener, NAME, 'failed', from), NAME);
    expect(refused?.fault).toMatch(/is being trained by process \d+/);
    await other.close();
    ear.close();
    const kept = (await (await openRun(path.join(site.runs, NAME))).steps()).latest;
    expect(kept).toBeGreaterThanOrEqual(more.step);
  });

  test('it becomes a model that the page can load', async () => {
    const from = listener.heard.length;
    const reply = await act(port, 'export', NAME);
    expect(reply.body.toString()).toMatch(/bundle/);
    expect(json<ExportedBundle>(reply)).toEqual({ bundle: NAME });
    const list = json<{ bundles: { name: string }[] }>(await ask(port, '/zoo/index.json'));
    expect(list.bundles.map(({ name }) => name)).toEqual(['center', NAME]);
    const solver = await Solver.load(`${studio.url}zoo/${NAME}`, { cache: false });
    expect(solver.manifest.accuracy?.problems).toBe(20);
    expect(solver.manifest.sizes.concepts).toBe(network.concepts);
    await solver.dispose();
    await listener.until('note', () => true, from);
  });

  test('a run of the same name gets a number', async () => {
    const reply = await start(port, { minutes: 0.05 });
    expect(json<RunSummary>(reply).name).toBe(`${NAME}-2`);
    const finished = runOf(await state(listener, `${NAME}-2`, 'finished'), `${NAME}-2`);
    expect(finished?.step).toBe(finished?.totalSteps);
    expect(finished?.accuracy?.raven).toBeGreaterThanOrEqual(0);
    await listener.until(
      'rules',
      ({ run, step }) => run === `${NAME}-2` && step === finished?.step,
    );
    const more = await act(port, 'resume', `${NAME}-2`);
    expect([more.status, errorOf(more)]).toEqual([409, `${NAME}-2 has reached its end`]);
  });
});
