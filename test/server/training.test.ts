/** Training for the page with a tiny model, whose runs take seconds; the real thing otherwise. */
import { execFileSync, fork, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { impute } from '../../src/models/index.js';
import { startStudio, type StudioServer } from '../../src/server/index.js';
import type {
  ExportedBundle,
  PanelsUpdate,
  RunState,
  RunSummary,
  TrainStatus,
} from '../../src/server/train-api.js';
import { claimRun } from '../../src/server/training/claim.js';
import { Solver } from '../../src/solver/node.js';
import { isTorchAvailable, scope, tensor } from '../../src/torch/index.js';
import { openRun } from '../../src/training/index.js';
import { tinyModel } from '../training/tiny.js';
import { Listener } from './listener.js';
import { ask, json, makeSite, post, scratch, type Reply, type Site } from './site.js';
import { TINY_TRAINING } from './tiny-training.js';

// A busy machine may take a minute for what takes a second.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const { network } = tinyModel();
const START = {
  configuration: 'center',
  noisy: false,
  preset: 'small',
  device: 'cpu',
  minutes: 60,
  seed: 5,
};

const folder = scratch();
let site: Site;

const start = (port: number, changes: object = {}): Promise<Reply> =>
  post(port, '/api/training/start', { ...START, ...changes });
const act = (port: number, action: string, name: string): Promise<Reply> =>
  post(port, `/api/training/${action}`, { name });
const status = async (port: number): Promise<TrainStatus> =>
  json<TrainStatus>(await ask(port, '/api/training'));
const errorOf = (reply: Reply): string => json<{ error: string }>(reply).error;

/** A disk of a size, where this process may mount one; null elsewhere. */
function mountDisk(
  place: string,
  size: string,
): { resize(size: string): void; remove(): void } | null {
  const mount = (...args: string[]): unknown => execFileSync('mount', args, { stdio: 'ignore' });
  try {
    mkdirSync(place, { recursive: true });
    mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', place);
  } catch {
    return null;
  }
  return {
    resize: (to) => void mount('-o', `remount,size=${to}`, place),
    remove: () => void execFileSync('umount', [place], { stdio: 'ignore' }),
  };
}

/** Waits until a run is in a state. */
const state = (
  listener: Listener,
  name: string,
  wanted: RunState,
  from = 0,
): Promise<TrainStatus> =>
  listener.until(
    'status',
    ({ runs }) => runs.some((run) => run.name === name && run.state === wanted),
    from,
  );

const runOf = (found: TrainStatus, name: string): RunSummary | undefined =>
  found.runs.find((run) => run.name === name);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** The last panels of matrices as the newest checkpoint of a run imagines them. */
async function imaginedBy(run: string, { matrices }: PanelsUpdate): Promise<string[]> {
  const trained = await (await openRun(run)).loadModel('latest');
  try {
    return scope(() => {
      const bytes = Buffer.concat(matrices.map(({ panels }) => Buffer.from(panels, 'base64')));
      const shape = [matrices.length, 9, 64, 64];
      const panels = tensor(new Uint8Array(bytes), { shape }).to({ dtype: 'f32' }).div(255);
      const missing = matrices.map(() => [8]);
      const whole = impute(trained.model, panels, missing).panels; // [1, N, 9, 64, 64]
      const last = whole.select(0, 0).select(1, 8).mul(255).round().to({ dtype: 'u8' });
      const values = last.contiguous().data() as Uint8Array;
      return matrices.map((_, n) =>
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
    [{ preset: 'paper' }, /preset: expected small or crab/],
    [{ device: 'cuda:77' }, /device: expected one of cpu/],
    [{ minutes: 0 }, /minutes: expected a number/],
    [{ minutes: '5' }, /minutes: expected a number/],
    [{ seed: 1.5 }, /seed: expected a whole number/],
    [{ out: '/etc' }, /out: expected only configuration, noisy/],
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
    expect(panels.matrices).toHaveLength(2);
    for (const matrix of panels.matrices) {
      expect(Buffer.from(matrix.panels, 'base64')).toHaveLength(9 * 64 * 64);
      expect(Buffer.from(matrix.imagined, 'base64')).toHaveLength(64 * 64);
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
    expect(run.config.model.network).toEqual(network);
    expect(studio.trainerPid).toBeNull();
    const last = await listener.until('panels', ({ step }) => step === stopped?.step);
    expect(last.matrices.map(({ imagined }) => imagined)).toEqual(
      await imaginedBy(run.folder, last),
    );
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
    expect(refused?.fault).toMatch(/another process trains this run/);
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
    expect(listener.heard.slice(from).some(({ name }) => name === 'note')).toBe(true);
  });

  test('a run of the same name gets a number', async () => {
    const reply = await start(port, { minutes: 0.05 });
    expect(json<RunSummary>(reply).name).toBe(`${NAME}-2`);
    const finished = runOf(await state(listener, `${NAME}-2`, 'finished'), `${NAME}-2`);
    expect(finished?.step).toBe(finished?.totalSteps);
    expect(finished?.accuracy?.raven).toBeGreaterThanOrEqual(0);
    const last = listener.all('rules').at(-1);
    expect([last?.run, last?.step]).toEqual([`${NAME}-2`, finished?.step]);
    const more = await act(port, 'resume', `${NAME}-2`);
    expect([more.status, errorOf(more)]).toEqual([409, `${NAME}-2 has reached its end`]);
  });
});

describe.skipIf(!isTorchAvailable())('trouble', () => {
  test('a killed trainer: the server lives on, and so does the run', async () => {
    const studio = await startStudio({ ...site, training: TINY_TRAINING });
    const listener = await Listener.connect(studio.port);
    const { name } = json<RunSummary>(await start(studio.port, { seed: 6 }));
    const { step } = await listener.until('panels');
    process.kill(studio.trainerPid ?? 0, 'SIGKILL');
    const failed = runOf(await state(listener, name, 'failed'), name);
    expect(failed?.fault).toMatch(/ended by SIGKILL/);
    expect(studio.trainerPid).toBeNull();
    const from = listener.heard.length;
    const resumed = json<RunSummary>(await act(studio.port, 'resume', name));
    expect(resumed.step).toBeGreaterThanOrEqual(step);
    await state(listener, name, 'running', from);
    await listener.until('step', (more) => more.step > resumed.step, from);
    listener.close();
    await studio.close();
  });

  test('a closing server lets its trainer store a checkpoint', async () => {
    const studio = await startStudio({
      ...site,
      training: { ...TINY_TRAINING, checkpointSeconds: 1e6 },
    });
    const listener = await Listener.connect(studio.port);
    const { name } = json<RunSummary>(await start(studio.port, { seed: 7 }));
    const { step } = await listener.until('step');
    const pid = studio.trainerPid ?? 0;
    expect(isAlive(pid)).toBe(true);
    await studio.close();
    expect(isAlive(pid)).toBe(false);
    const { latest } = await (await openRun(path.join(site.runs, name))).steps();
    expect(latest).toBeGreaterThanOrEqual(step);
  });

  test('the trainer of a killed server stores a checkpoint and ends', async () => {
    const file = fileURLToPath(new URL('server-child.ts', import.meta.url));
    const options = { ...site, training: { ...TINY_TRAINING, checkpointSeconds: 1e6 } };
    const server: ChildProcess = fork(file, [JSON.stringify(options)], {
      execArgv: ['--import', 'tsx', '--expose-gc'],
    });
    const port = await new Promise<number>((resolve) => {
      server.once('message', (message) => resolve((message as { port: number }).port));
    });
    const listener = await Listener.connect(port);
    listener.connection.on('error', () => {});
    const { name } = json<RunSummary>(await start(port, { seed: 8 }));
    const { step } = await listener.until('step');
    const asked = new Promise<{ trainerPid: number }>((resolve) => {
      server.once('message', (message) => resolve(message as { trainerPid: number }));
    });
    server.send('held');
    const { trainerPid } = await asked;
    expect(isAlive(trainerPid)).toBe(true);
    server.kill('SIGKILL');
    await untilGone(trainerPid);
    const { latest } = await (await openRun(path.join(site.runs, name))).steps();
    expect(latest).toBeGreaterThanOrEqual(step);
    listener.close();
  });

  test('runs that cannot be written fail with a sentence, not the server', async () => {
    const file = path.join(folder, 'a-file');
    await writeFile(file, '');
    const studio = await startStudio({ ...site, runs: file, training: TINY_TRAINING });
    const listener = await Listener.connect(studio.port);
    const { name } = json<RunSummary>(await start(studio.port));
    const failed = runOf(await state(listener, name, 'failed'), name);
    expect(failed?.fault).toMatch(/a-file.*: a part of this path is not a folder|exists already/);
    expect((await act(studio.port, 'resume', name)).status).toBe(409);
    expect((await act(studio.port, 'export', name)).status).toBe(409);
    expect((await status(studio.port)).shown).toBe(name);
    listener.close();
    await studio.close();
  });
});

const disk = isTorchAvailable() ? mountDisk(path.join(folder, 'disk'), '64k') : null;

describe.skipIf(disk === null)('a full disk', () => {
  let studio: StudioServer;
  let listener: Listener;

  beforeAll(async () => {
    const runs = path.join(folder, 'disk');
    studio = await startStudio({ ...site, runs, training: TINY_TRAINING });
    listener = await Listener.connect(studio.port);
  });
  afterAll(async () => {
    listener.close();
    await studio.close();
    disk?.remove();
  });

  test('is told while it trains on, and ends neither server nor run', async () => {
    const { port } = studio;
    const { name } = json<RunSummary>(await start(port));
    const warning = await listener.until('note', ({ level }) => level === 'warning');
    expect(warning.text).toMatch(/no space left|ENOSPC/i);
    const from = listener.heard.length;
    await listener.until('step', () => true, from);
    await act(port, 'stop', name);
    const failed = runOf(await state(listener, name, 'failed'), name);
    expect(failed?.fault).toMatch(/the last steps could not be saved/);
    expect((await ask(port, '/')).status).toBe(200);

    disk?.resize('16m');
    const again = listener.heard.length;
    expect((await act(port, 'resume', name)).status).toBe(200);
    await listener.until('panels', () => true, again);
    await act(port, 'stop', name);
    const stopped = runOf(await state(listener, name, 'stopped', again), name);
    expect(stopped?.fault).toBeNull();
    expect(stopped?.step).toBeGreaterThan(0);
  });
});

describe('a claim on a run', () => {
  test('is had by one alone, and free again when released', async () => {
    const run = path.join(folder, 'claimed');
    const claim = await claimRun(run);
    expect(claim).not.toBeNull();
    expect(await claimRun(run)).toBeNull();
    expect(await claimRun(`${run}-2`)).not.toBeNull();
    claim?.release();
    expect(await claimRun(run)).not.toBeNull();
  });
});
