/**
 * Checks evaluations that were kept as JSON: all that tables, cards and pages look at. Whatever else a file
 * holds stays as it is. The types are those of `evaluation.ts`, the comment of each field stands there.
 */
import {
  boolean,
  dictionary,
  FormatError,
  integer,
  list,
  nullable,
  number,
  objectWith,
  oneOf,
  optional,
  parseJson,
  read,
  text,
} from '../base/index.js';
import { CONFIGURATIONS, VARIANTS } from '../matrix/index.js';
import {
  EVALUATION_FORMAT,
  EVALUATION_VERSION,
  METRIC_NAMES,
  type ModelEvaluation,
} from './evaluation.js';

const share = number({ min: 0, max: 1 });
const count = integer({ min: 0 });
export const measured = objectWith({ value: share, low: share, high: share });

/** Of pixels: without a bound in principle. */
const size = number({ min: 0 });
const amount = objectWith({ value: size, low: size, high: size });
const pixelError = objectWith({ meanSquared: amount, meanAbsolute: amount });

const problems = objectWith({ fromData: count, generated: count, seed: integer() });
const attribute = objectWith({ name: text(), component: count, group: text() });

const dataFields = {
  data: text(),
  variant: nullable(oneOf(VARIANTS)),
  configuration: optional(oneOf(CONFIGURATIONS)),
  count,
  seed: optional(integer()),
};

/** Also in measured trainings. */
export const selection = list(
  objectWith({ ...dataFields, sa: measured, saL2: optional(measured) }),
);

const gsaPoint = objectWith({
  targets: count,
  candidates: count,
  accuracy: measured,
  accuracyL2: optional(measured),
  each: optional(measured),
  eachL2: optional(measured),
});

const assignment = objectWith({ attribute: text(), concept: nullable(count), ari: number() });
const ariTable = objectWith({
  attributes: list(attribute),
  matrix: list(list(number())),
  best: list(assignment),
  average: number(),
  averageInterval: optional(objectWith({ low: number(), high: number() })),
  oneToOne: list(assignment),
  averageOneToOne: number(),
  byGroup: objectWith({
    Type: nullable(number()),
    Size: nullable(number()),
    Color: nullable(number()),
    'Num/Pos': nullable(number()),
  }),
});

const group = objectWith({ concepts: list(count), entries: count, determines: list(text()) });
const byAttribute = <K extends string>(...keys: readonly K[]) =>
  list(
    objectWith({
      attribute,
      ...(Object.fromEntries(keys.map((key) => [key, share])) as Record<K, typeof share>),
    }),
  );

const evaluation = objectWith({
  format: oneOf([EVALUATION_FORMAT]),
  version: oneOf([EVALUATION_VERSION]),
  name: text(),
  system: text(),
  preset: text(),
  configuration: oneOf(CONFIGURATIONS),
  noisy: boolean,
  sizes: nullable(objectWith({ concepts: count, conceptSize: count, ruleSize: count })),
  training: dictionary(({ value }) => value),
  conditions: objectWith({
    bundle: nullable(text()),
    metrics: list(oneOf(METRIC_NAMES)),
    problems: count,
    repeats: count,
    panels: count,
    pictures: count,
  }),
  data: list(objectWith(dataFields)),
  selection: nullable(selection),
  gsa: nullable(objectWith({ problems, repeats: count, points: list(gsaPoint) })),
  errors: nullable(
    objectWith({
      problems,
      reconstruction: optional(pixelError),
      prediction: pixelError,
      predictionAnywhere: optional(pixelError),
      meanPanel: optional(pixelError),
    }),
  ),
  ari: nullable(
    objectWith({
      problems,
      matrix: ariTable,
      authors: ariTable,
      context: ariTable,
      oneReading: optional(ariTable),
      plain: optional(ariTable),
      groups: optional(ariTable),
    }),
  ),
  vd: nullable(
    objectWith({
      attributes: list(attribute),
      decline: list(list(number())),
      names: list(objectWith({ concept: count, name: text(), score: number() })),
      groups: optional(list(group)),
    }),
  ),
  readback: nullable(
    objectWith({
      problems: count,
      seed: integer(),
      obeys: measured,
      agrees: measured,
      unreadable: measured,
      meanObeys: optional(measured),
      carefulObeys: optional(measured),
      missing: optional(
        list(
          objectWith({
            targets: count,
            problems: count,
            obeys: measured,
            meanObeys: optional(measured),
            carefulObeys: optional(measured),
          }),
        ),
      ),
      reconstructedObeys: optional(measured),
      reconstructedUnreadable: optional(measured),
      byAttribute: byAttribute('share'),
    }),
  ),
  // What is kept beside documents does not have these three.
  examples: optional(
    list(
      objectWith({
        configuration: oneOf(CONFIGURATIONS),
        noisy: boolean,
        variant: oneOf(VARIANTS),
        seed: count,
        index: count,
        answer: count,
        chosen: count,
      }),
    ),
  ),
  history: optional(list(objectWith({ name: text(), steps: list(count), values: list(number()) }))),
  seconds: optional(dictionary(number())),
  // Evaluations from before there were vocabularies do not have it.
  rules: optional(
    nullable(
      objectWith({
        problems: count,
        seed: integer(),
        right: measured,
        byAttribute: byAttribute('right', 'wrong', 'silent'),
        calibration: list(objectWith({ count, confidence: share, right: share })),
        several: nullable(objectWith({ problems: count, asked: count, right: share })),
      }),
    ),
  ),
});

/** An evaluation read from a file. */
export function parseEvaluation(json: string, file: string): ModelEvaluation {
  const value = parseJson(json, FormatError, file);
  read(evaluation, value, FormatError, file);
  return value as ModelEvaluation;
}
