/** `crab report --pictures`: what several models paint at arbitrary positions, systems as rows. */
import { writeOutput } from '../base/node.js';
import {
  ANSWERS_FORMAT,
  formatAnswers,
  paintAnswers,
  parseAnswers,
  requireRun,
  systemAnswersFiles,
  writeSystemAnswers,
  type PaintedAnswers,
} from '../lab/index.js';
import type { Device } from '../torch/index.js';
import { isRun } from '../training/index.js';
import { UsageError } from './errors.js';
import { tell } from './output.js';
import { requireOwnFile } from './own-files.js';
import { ownJson } from './own-reports.js';
import { readTextInput, requireOutputFolder } from './paths.js';
import { withProgress } from './progress.js';

export interface PictureOptions {
  readonly pictures?: readonly string[];
  readonly out?: string;
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
    const argument = '--pictures';
    return paintAnswers(location, { device, examples, seed, signal, argument });
  }
  return parseAnswers(await readTextInput('--pictures', location), location);
}

/** Answers of all models named, in their order. */
const allAnswers = (options: PictureOptions, signal: AbortSignal): Promise<PaintedAnswers[]> => {
  const { pictures = [] } = options;
  return withProgress(pictures.length, 'models', options, async (progress) => {
    const all: PaintedAnswers[] = [];
    for (const location of pictures) {
      all.push(await answersOf(location, options, signal));
      progress.update(all.length);
    }
    return all;
  });
};

const tellFiles = (options: PictureOptions, files: readonly string[]): void =>
  tell(options, { files }, () => `${files.join('\n')}\n`);

/** Keeps the answers of one model, and draws nothing. */
async function saveAnswers(
  save: string,
  options: PictureOptions,
  signal: AbortSignal,
): Promise<void> {
  const { pictures = [] } = options;
  if (pictures.length !== 1) {
    throw new UsageError(`--save keeps the answers of one model: name one, not ${pictures.length}`);
  }
  const model = { argument: '--pictures', location: pictures[0] };
  const own = ownJson(ANSWERS_FORMAT, 'a file of answers');
  const place = await requireOwnFile('--save', save, [model], own);
  const [answers] = await allAnswers(options, signal);
  await writeOutput(place, formatAnswers(answers));
  tellFiles(options, [place.path]);
}

export async function reportPictures(options: PictureOptions, signal: AbortSignal): Promise<void> {
  const { out = 'report', save, device, pictures = [] } = options;
  await requireRun(device, pictures, `${pictures.join(', ')} is none`);
  const asked = (['examples', 'seed'] as const).find((name) => options[name] !== undefined);
  if (asked !== undefined && pictures.every((each) => each.endsWith('.json'))) {
    throw new UsageError(`--${asked} is of models: answers that were kept are drawn as they are`);
  }
  if (save !== undefined) return saveAnswers(save, options, signal);
  await requireOutputFolder('--out', out);
  // Now, not after minutes of painting.
  await systemAnswersFiles(out);
  tellFiles(options, await writeSystemAnswers(await allAnswers(options, signal), out, signal));
}
