/**
 * What a model paints at arbitrary positions: fixed problems of its configuration, with one and with two
 * panels missing, the same for every system. Kept as JSON, so that pictures can be drawn from several
 * models later and elsewhere; the problems themselves are made again from their seed.
 */
import {
  ArgumentError,
  boolean,
  FormatError,
  integer,
  list,
  object,
  oneOf,
  parseJson,
  read,
  text,
  type Read,
  type Reader,
} from '../base/index.js';
import {
  CONFIGURATIONS,
  greyByte,
  layoutOf,
  MATRIX_PANELS,
  Random,
  samplePanels,
  SMALL_PIXELS,
  SMALL_SIZE,
} from '../matrix/index.js';
import type { Panel } from '../solver/index.js';
import { drawPanels } from './metrics/generated-source.js';
import { drawMissing } from './missing-sets.js';
import { openSubject, type SubjectOptions } from './open-subject.js';
import type { Subject, SubjectFacts } from './subject.js';

/** Numbers of missing panels that are shown. */
export const PAINTED_TARGETS = [1, 2] as const;
export const ANSWERS_FORMAT = 'crab-answers';
const ANSWERS_SEED = 8_100_000_003;
const MOST_EXAMPLES = 20;

/** Pixels of a panel, u8 [64, 64], as base64. */
const pixels: Reader<Uint8Array> = (given) => {
  const bytes = new Uint8Array(Buffer.from(text(2 * SMALL_PIXELS)(given), 'base64'));
  return bytes.length === SMALL_PIXELS ? bytes : given.expected(`${SMALL_PIXELS} bytes as base64`);
};

const position = integer({ min: 1, max: MATRIX_PANELS });

const answersReader = object({
  format: oneOf([ANSWERS_FORMAT]),
  system: text(100),
  preset: text(100),
  configuration: oneOf(CONFIGURATIONS),
  noisy: boolean,
  seed: integer({ min: 0 }),
  /** Problem n is index n of the seed; its answers are by the number of missing panels. */
  examples: list(
    list(
      object({
        missing: list(position, { min: 1, max: MATRIX_PANELS - 1 }),
        images: list(pixels, { min: 1, max: MATRIX_PANELS - 1 }),
      }),
      { min: PAINTED_TARGETS.length, max: PAINTED_TARGETS.length },
    ),
    { min: 1, max: MOST_EXAMPLES },
  ),
});

export type PaintedAnswers = Read<typeof answersReader>;

/** Reads what `formatAnswers` wrote; nothing in it is trusted. */
export const parseAnswers = (bytes: string | Uint8Array, name: string): PaintedAnswers =>
  read(answersReader, parseJson(bytes, FormatError, name), FormatError, name);

export function formatAnswers(answers: PaintedAnswers): string {
  const plain = (_: string, value: unknown): unknown =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
  return `${JSON.stringify(answers, plain)}\n`;
}

/** The nine panels of an example, pictures u8 [9, 64, 64]. */
export function examplePictures(
  { configuration, noisy, seed }: Pick<PaintedAnswers, 'configuration' | 'noisy' | 'seed'>,
  index: number,
): Uint8Array {
  const { panels } = samplePanels({ configuration, noisy, seed, index });
  return drawPanels(layoutOf(configuration, noisy), panels, SMALL_SIZE);
}

/** Which panels of an example are missing, 1..9, rising: others in each configuration. */
const missingOf = (
  configuration: PaintedAnswers['configuration'],
  seed: number,
  index: number,
  targets: number,
): number[] =>
  drawMissing(
    new Random(
      seed,
      CONFIGURATIONS.length * index + CONFIGURATIONS.indexOf(configuration),
      targets,
    ),
    targets,
  );

const toBytes = (panel: Panel): Uint8Array => Uint8Array.from(panel, greyByte);

export interface PaintOptions extends Pick<
  SubjectOptions,
  'device' | 'zoo' | 'signal' | 'argument'
> {
  /** Problems that are completed; 1 unless told. */
  readonly examples?: number;
  readonly seed?: number;
}

/** Whether a model paints what these pictures show. */
export const paintsAnywhere = ({ can, imageSize, positions }: SubjectFacts): boolean =>
  can.includes('impute') && positions === 'any' && imageSize === SMALL_SIZE;

/** Lets an open model paint; means, as the paper shows them. */
export async function answersBy(
  subject: Subject,
  {
    examples = 1,
    seed = ANSWERS_SEED,
    signal,
  }: Pick<PaintOptions, 'examples' | 'seed' | 'signal'> = {},
): Promise<PaintedAnswers> {
  const { name, system, preset, configuration, noisy } = subject.facts;
  if (subject.imagine === undefined || !paintsAnywhere(subject.facts)) {
    throw new ArgumentError(`${name}: ${system} paints no panels at arbitrary positions`);
  }
  const painted: PaintedAnswers['examples'][number][] = [];
  for (let index = 0; index < examples; index++) {
    const pictures = examplePictures({ configuration, noisy, seed }, index);
    const { panels } = await subject.see(pictures, signal);
    const questions = PAINTED_TARGETS.map((targets) => ({
      panels,
      missing: missingOf(configuration, seed, index, targets),
    }));
    const found = await subject.imagine(questions, { paint: 'mean', signal });
    painted.push(questions.map(({ missing }, t) => ({ missing, images: found[t].map(toBytes) })));
  }
  return { format: ANSWERS_FORMAT, system, preset, configuration, noisy, seed, examples: painted };
}

/** Opens a run or a bundle and lets it paint. */
export async function paintAnswers(
  location: string,
  { examples, seed, ...options }: PaintOptions = {},
): Promise<PaintedAnswers> {
  const subject = await openSubject(location, { ...options, metrics: [] });
  try {
    return await answersBy(subject, { examples, seed, signal: options.signal });
  } finally {
    await subject.dispose();
  }
}
