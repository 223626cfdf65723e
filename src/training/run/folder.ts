/**
 * The names and upkeep of a run's files. Full checkpoints are `checkpoint-<step>.safetensors`, the
 * newest two are kept; the weights of the best validation are `checkpoint-best-<step>.safetensors`,
 * kept as long as a kept checkpoint refers to them. A new file is complete before an old one goes.
 */
import path from 'node:path';
import { isTemporary, type RunFiles } from './files.js';

/** Held by the process that trains; see lock.ts. */
export const LOCK_FILE = 'training.lock';
const FULL = /^checkpoint-(\d+)\.safetensors$/;
const BEST = /^checkpoint-best-(\d+)\.safetensors$/;
/** Digits of a step in names, so that they sort. */
const DIGITS = 8;
const KEPT = 2;

const padded = (step: number): string => step.toString().padStart(DIGITS, '0');
export const checkpointName = (step: number): string => `checkpoint-${padded(step)}.safetensors`;
export const bestName = (step: number): string => `checkpoint-best-${padded(step)}.safetensors`;
export const rulesName = (step: number): string => `rules-${step}.json`;

function stepsOf(names: readonly string[], pattern: RegExp): number[] {
  return names
    .map((name) => pattern.exec(name))
    .filter((match) => match !== null)
    .map((match) => Number(match[1]))
    .sort((a, b) => b - a);
}

/** Steps of the full checkpoints in a folder, newest first. */
export async function checkpointSteps(files: RunFiles, folder: string): Promise<number[]> {
  return stepsOf(await files.list(folder), FULL);
}

/** Steps of the best-so-far weights in a folder, newest first. */
export async function bestSteps(files: RunFiles, folder: string): Promise<number[]> {
  return stepsOf(await files.list(folder), BEST);
}

/** Rule snapshots in a folder, by step. */
export async function rulesSteps(files: RunFiles, folder: string): Promise<number[]> {
  return stepsOf(await files.list(folder), /^rules-(\d+)\.json$/).reverse();
}

/** Whether a folder holds something of a run, or anything else that is not ours to write over. */
export async function isTaken(files: RunFiles, folder: string): Promise<boolean> {
  const names = await files.list(folder);
  // A process killed at its very start leaves a folder that is no run yet.
  return names.some((name) => !isTemporary(name) && name !== LOCK_FILE);
}

/** Removes checkpoints beyond the newest two and best weights that none of the kept refers to. */
export async function pruneCheckpoints(
  files: RunFiles,
  folder: string,
  referredBest: ReadonlySet<number>,
): Promise<void> {
  const names = await files.list(folder);
  const old = stepsOf(names, FULL).slice(KEPT).map(checkpointName);
  const unused = stepsOf(names, BEST)
    .filter((step) => !referredBest.has(step))
    .map(bestName);
  for (const name of [...old, ...unused]) await files.remove(path.join(folder, name));
}

/** Removes what a killed process left half-written. */
export async function removeLeftovers(files: RunFiles, folder: string): Promise<void> {
  for (const name of await files.list(folder)) {
    if (isTemporary(name)) await files.remove(path.join(folder, name));
  }
}

/** Removes rule snapshots and checkpoints of steps after `step`, which will be written again. */
export async function removeLater(files: RunFiles, folder: string, step: number): Promise<void> {
  const names = await files.list(folder);
  const later = [
    ...stepsOf(names, /^rules-(\d+)\.json$/)
      .filter((at) => at > step)
      .map(rulesName),
    ...stepsOf(names, FULL)
      .filter((at) => at > step)
      .map(checkpointName),
  ];
  for (const name of later) await files.remove(path.join(folder, name));
}
