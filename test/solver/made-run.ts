/** Runs as training leaves them, made without training. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CrabConfig } from '../../src/models/index.js';
import { metadataOf, writeChecked } from '../../src/training/run/checkpoint.js';
import { randomState } from './random-model.js';

export interface MadeRun {
  readonly model: CrabConfig;
  readonly steps: number;
  readonly snapshots?: { readonly problems: number; readonly moments: readonly number[] };
  /** Lines of the metrics log. */
  readonly metrics?: readonly object[];
  /** Name of the one checkpoint, which has random weights. */
  readonly checkpoint: string;
  /** Mixtures of the rule prior. */
  readonly prior?: unknown;
}

/** Writes a run into a folder of its own. */
export function makeRun(run: string, made: MadeRun): string {
  const { model, steps, snapshots = { problems: 0, moments: [] }, metrics = [] } = made;
  mkdirSync(run);
  const settings = {
    format: 'crab-run',
    version: 2,
    software: { 'crab-raven': '0' },
    system: 'crab',
    model,
    seed: 1,
    data: { kind: 'stream', pool: 10, refresh: 0 },
    budget: { kind: 'steps', steps },
    totalSteps: steps,
    device: 'cpu',
    precision: 'f32',
    deterministic: true,
    threads: 1,
    validation: { every: 1, problems: 1, criterion: 'selection-accuracy' },
    checkpoints: { seconds: 10, steps: null },
    logEvery: 1,
    snapshots,
  };
  writeFileSync(path.join(run, 'config.json'), JSON.stringify(settings));
  const lines = metrics.map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(path.join(run, 'metrics.jsonl'), lines.join(''));
  const tensors = [...randomState(model.network)].map(([key, { data, shape }]) => ({
    name: `model.${key}`,
    dtype: 'f32' as const,
    shape,
    bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  }));
  const file = path.join(run, made.checkpoint);
  writeChecked({ file, tensors, metadata: metadataOf({ extra: made.prior ?? null }) });
  return run;
}
