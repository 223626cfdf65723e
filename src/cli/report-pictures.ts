/** `crab report --pictures`: what several models paint at arbitrary positions, systems as rows. */
import path from 'node:path';
import { writeOutput } from '../base/node.js';
import {
  formatAnswers,
  paintAnswers,
  parseAnswers,
  writeSystemAnswers,
  type PaintedAnswers,
} from '../lab/index.js';
import type { Device } from '../torch/index.js';
import { isRun } from '../training/index.js';
import { UsageError } from './errors.js';
import { readTextInput, requireOutputFile, requireOutputFolder } from './paths.js';
import { startProgress } from './progress.js';

export interface PictureOptions {
  readonly pictures?: readonly string[];
  readonly out: string;
  readonly save?: string;
  readonly examples?: number;
  readonly seed?: number;
  readonly device?: Device;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Answers of a model, or those that were saved. */
async function answersOf(
  location: string,
  { device, examples, seed }: PictureOptions,
  signal: AbortSignal,
): Promise<PaintedAnswers> {
  if (!location.endsWith('.json') || (await isRun(location))) {
    return paintAnswers(location, { device, examples, seed, signal });
  }
  return parseAnswers(await readTextInput('--pictures', location), location);
}

const draw = async (
  all: readonly PaintedAnswers[],
  out: string,
  signal: AbortSignal,
): Promise<string[]> =>
  (await writeSystemAnswers(all, out, signal)).map((name) => path.join(out, name));

export async function reportPictures(options: PictureOptions, signal: AbortSignal): Promise<void> {
  const { pictures = [], out, save, json = false } = options;
  if (save !== undefined && pictures.length !== 1) {
    throw new UsageError(`--save keeps the answers of one model: name one, not ${pictures.length}`);
  }
  const place = await requireOutputFile('--save', save);
  if (place === undefined) await requireOutputFolder('--out', out);
  const progress = startProgress(pictures.length, 'models', options.quiet);
  const all: PaintedAnswers[] = [];
  try {
    for (const location of pictures) {
      all.push(await answersOf(location, options, signal));
      progress.update(all.length);
    }
    progress.stop();
    const files = place === undefined ? await draw(all, out, signal) : [place.path];
    if (place !== undefined) await writeOutput(place, formatAnswers(all[0]));
    process.stdout.write(json ? `${JSON.stringify({ files })}\n` : `${files.join('\n')}\n`);
  } finally {
    progress.stop();
  }
}
