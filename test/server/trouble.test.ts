/** What can go wrong while a page trains: processes are killed, folders unwritable, disks full. */
import { execFileSync, fork, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startStudio, type StudioServer } from '../../src/server/index.js';
import type { RunSummary } from '../../src/protocol/index.js';
import { isTorchAvailable } from '../../src/torch/index.js';
import { openRun } from '../../src/training/index.js';
import { RunLock } from '../../src/training/run/lock.js';
import { scratchFolder } from '../scratch-folder.js';
import { Listener } from './listener.js';
import { act, runOf, start, state, status } from './runs.js';
import { ask, json, makeSite, type Site } from './site.js';
import { TINY_TRAINING } from './tiny-training.js';

// A busy machine may take a minute for what takes a second.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const folder = scratchFolder();
let site: Site;

beforeAll(async () => {
  site = await makeSite(folder);
});

function requirePid({ trainerPid }: StudioServer): number {
  if (trainerPid === null) throw new Error('there is no trainer');
  return trainerPid;
}

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

describe.skipIf(!isTorchAvailable())('trouble', () => {
  test('a killed trainer: the server lives on, and so does the run', async () => {
    const studio = await startStudio({ ...site, training: TINY_TRAINING });
    const listener = await Listener.connect(studio.port);
    const { name } = json<RunSummary>(await start(studio.port, { seed: 6 }));
    const { step } = await listener.until('panels');
    process.kill(requirePid(studio), 'SIGKILL');
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
    const pid = requirePid(studio);
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

  test('a run that another process trains fails with a sentence that names the process', async () => {
    const studio = await startStudio({ ...site, training: TINY_TRAINING });
    const listener = await Listener.connect(studio.port);
    const { name } = json<RunSummary>(await start(studio.port, { seed: 9 }));
    await listener.until('panels');
    await act(studio.port, 'stop', name);
    await state(listener, name, 'stopped');
    const lock = new RunLock();
    await lock.take(path.join(site.runs, name));
    try {
      const from = listener.heard.length;
      await act(studio.port, 'resume', name);
      const failed = runOf(await state(listener, name, 'failed', from), name);
      expect(failed?.fault).toMatch(`is being trained by process ${process.pid}`);
    } finally {
      lock.release();
    }
    const from = listener.heard.length;
    await act(studio.port, 'resume', name);
    await state(listener, name, 'running', from);
    listener.close();
    await studio.close();
  });
});

const disk = isTorchAvailable() ? mountDisk(path.join(folder, 'disk'), '64k') : null;

describe.skipIf(disk === null)('a full disk', () => {
  let studio: StudioServer;
  let listener: Listener;

  // On its own and first, so that it is done last and in any case.
  afterAll(() => disk?.remove());
  beforeAll(async () => {
    const runs = path.join(folder, 'disk');
    studio = await startStudio({ ...site, runs, training: TINY_TRAINING });
    listener = await Listener.connect(studio.port);
  });
  afterAll(async () => {
    listener.close();
    await studio.close();
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
    expect(failed?.fault).toMatch(/steps \d+ to \d+ could not be saved/);
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
