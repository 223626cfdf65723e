/**
 * The runs in a folder. What is no run, or a damaged one, is left out. A run is read again
 * only after it has changed, so that asking often costs little.
 */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { openRun, type OpenedRun } from '../../training/index.js';
import type { RunSummary } from '../../protocol/index.js';
import { Curves } from './curves.js';

/** Most runs looked at, so that a folder of thousands stays quick. */
const MOST_RUNS = 200;

/** Names of runs: those of folders that are the same everywhere, none of them hidden. */
export const isRunName = (name: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name) && !name.endsWith('.');

interface StoredRun {
  readonly summary: RunSummary;
  /** When it last changed, milliseconds. */
  readonly changed: number;
}

const changedAt = (file: string): Promise<number> =>
  stat(file).then(
    (status) => status.mtimeMs,
    () => 0,
  );

async function summarize(name: string, run: OpenedRun): Promise<RunSummary> {
  const { model, totalSteps } = run.config;
  const { latest } = await run.steps();
  const step = latest ?? 0;
  return {
    name,
    configuration: model.configuration,
    noisy: model.noisy,
    preset: model.preset,
    state: totalSteps !== null && step >= totalSteps ? 'finished' : 'stopped',
    step,
    totalSteps,
    accuracy: Curves.of(await run.metrics()).lastAccuracy,
    fault: null,
  };
}

export class StoredRuns {
  readonly #read = new Map<string, StoredRun>();

  constructor(readonly folder: string) {}

  pathOf(name: string): string {
    return path.join(this.folder, name);
  }

  async #readRun(name: string): Promise<StoredRun | null> {
    const folder = this.pathOf(name);
    const files = ['', 'config.json', 'metrics.jsonl'].map((file) => path.join(folder, file));
    const times = await Promise.all(files.map(changedAt));
    if (times[1] === 0) return null;
    const changed = Math.max(...times);
    const known = this.#read.get(name);
    if (known?.changed === changed) return known;
    try {
      const read = { summary: await summarize(name, await openRun(folder)), changed };
      this.#read.set(name, read);
      return read;
    } catch {
      return null;
    }
  }

  /** One run, or null if there is none of that name. */
  async find(name: string): Promise<StoredRun | null> {
    return isRunName(name) ? this.#readRun(name) : null;
  }

  /** All runs, the newest first. */
  async list(): Promise<StoredRun[]> {
    const names = (await readdir(this.folder).catch(() => [])).filter(isRunName);
    const found: StoredRun[] = [];
    for (const name of names.slice(0, MOST_RUNS)) {
      const run = await this.#readRun(name);
      if (run !== null) found.push(run);
    }
    return found.sort((a, b) => b.changed - a.changed);
  }

  /** The curves of a run so far; empty if its log cannot be read. */
  async curves(name: string): Promise<Curves> {
    try {
      return Curves.of(await (await openRun(this.pathOf(name))).metrics());
    } catch {
      return new Curves();
    }
  }

  /** The first of name, name-2, name-3 … that is free. */
  async freeName(name: string, taken: (name: string) => boolean): Promise<string> {
    for (let n = 1; ; n++) {
      const candidate = n === 1 ? name : `${name}-${n}`;
      if (taken(candidate)) continue;
      if ((await changedAt(this.pathOf(candidate))) === 0) return candidate;
    }
  }
}
