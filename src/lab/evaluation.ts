/**
 * What a whole evaluation of a model gives: plain data that `crab evaluate --json` prints, reports are
 * drawn from and tables are filled with. Every share is a fraction 0..1; every interval is 95%, by
 * bootstrap over problems, of shares of exactly 0 or 1 by Wilson's formula. Concepts are numbered
 * 1..M, panels 1..9, candidates from 1.
 *
 * Each type is that of the reader which checks it when an evaluation is read from a file: all that tables,
 * cards and pages look at. Whatever else a file holds stays as it is.
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
  type Read,
  type Reader,
} from '../base/index.js';
import { CONFIGURATIONS, VARIANTS, type AttributeColumn } from '../matrix/index.js';

export const EVALUATION_FORMAT = 'crab-evaluation';
export const EVALUATION_VERSION = 2;

/** What can be measured, in the order of measuring. */
export const METRIC_NAMES = ['sa', 'gsa', 'errors', 'ari', 'vd', 'readback', 'rules'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];

/** Every evaluation has it when it is made, but nobody needs it of a file. */
const unchecked =
  <T>(): Reader<T> =>
  ({ value }) =>
    value as T;

/** Every evaluation has it when it is made; old files, and what is kept beside documents, may not. */
const maybeLost = <T>(reader: Reader<T>): Reader<T> => optional(reader) as Reader<T>;

const share = number({ min: 0, max: 1 });
const count = integer({ min: 0 });
const attribute = objectWith({
  name: text(),
  component: count,
  group: text(),
}) as Reader<AttributeColumn>;

/** A share and its 95% interval. */
export const measured = objectWith({ value: share, low: share, high: share });
export type Measured = Read<typeof measured>;

const dataFields = {
  /** The path as given, or a description of generated problems. */
  data: text(),
  /** How the wrong candidates were made, if that is known. */
  variant: nullable(oneOf(VARIANTS)),
  /** Of a model that was trained on all configurations, and is measured on each; else it is the model's own. */
  configuration: optional(oneOf(CONFIGURATIONS)),
  count,
  /** Of fresh problems of our generator; absent for data that were given. */
  seed: optional(integer()),
  /** Tells data apart that have the same name but other content. */
  fingerprint: unchecked<string | undefined>(),
};
const measuredData = objectWith(dataFields);
/** A set of problems that a model was measured on. */
export type MeasuredData = Read<typeof measuredData>;

const conditions = objectWith({
  /** SHA-256 of a bundle's manifest, which holds those of its files, or of a run's weights. */
  bundle: nullable(text()),
  /** Those asked for, without those that the system cannot have. */
  metrics: list(oneOf(METRIC_NAMES)),
  /** Problems of GSA and ARI, and repeats of GSA. */
  problems: count,
  repeats: count,
  /** Panels of each batch of VD; problems of errors and of reading back. */
  panels: count,
  pictures: count,
  /** If one was told; else each metric has its own. */
  seed: unchecked<number | undefined>(),
});
/** What decides about the numbers of an evaluation, besides the data. */
export type MeasuringConditions = Read<typeof conditions>;

const selectionResult = objectWith({
  ...dataFields,
  /** By the model's own measure: with concepts the calibrated distance, ties painted, else its score. */
  sa: measured,
  /** By plain L2 on concepts, as in the paper; absent for a model without. */
  saL2: optional(measured),
});
/** Selection accuracy on one set of problems. */
export type SelectionResult = Read<typeof selectionResult>;
/** Also in measured trainings. */
export const selection = list(selectionResult);

const problems = objectWith({
  /** Problems of the data, of all sets in turns; a matrix that is in several sets counts once. */
  fromData: count,
  /** Fresh problems of our generator, added if the data had too few. */
  generated: count,
  /** Seed of the generated ones; problem n is index n. */
  seed: integer(),
});
/** Problems that a metric was measured on. */
export type MeasuredProblems = Read<typeof problems>;

const gsaPoint = objectWith({
  /** |T|, the number of missing panels. */
  targets: count,
  /** N_C, the number of candidates offered. */
  candidates: count,
  /** One choice for all targets together, distances added up: by the own distance and by L2. */
  accuracy: measured,
  accuracyL2: optional(measured),
  /** One choice for each target by itself. These three are absent for a model without concepts. */
  each: optional(measured),
  eachL2: optional(measured),
});
/** One point of a GSA curve. */
export type GsaPoint = Read<typeof gsaPoint>;

/** The point of so many missing panels and candidates. */
export const gsaPointAt = <P extends Pick<GsaPoint, 'targets' | 'candidates'>>(
  points: readonly P[],
  targets: number,
  candidates: number,
): P | undefined =>
  points.find((point) => point.targets === targets && point.candidates === candidates);

const gsa = objectWith({
  problems,
  repeats: count,
  seed: unchecked<number>(),
  points: list(gsaPoint),
});
export type GsaResult = Read<typeof gsa>;

/** Of pixels: without a bound in principle. */
const size = number({ min: 0 });
const amount = objectWith({ value: size, low: size, high: size });
const pixelError = objectWith({ meanSquared: amount, meanAbsolute: amount });
/** Differences of pixel values, which are 0 (black) to 1 (paper). */
export type PixelError = Read<typeof pixelError>;

const errors = objectWith({
  problems,
  /** Panels drawn from their own concepts, of models that have some. */
  reconstruction: optional(pixelError),
  /** Panel 9 imagined from the eight others. */
  prediction: pixelError,
  /** One panel at a random position, imagined from the eight others, by models that can. */
  predictionAnywhere: optional(pixelError),
  /** The mean of all panels in place of the one at a random position: what a model draws that learned nothing. */
  meanPanel: optional(pixelError),
});
export type PixelErrors = Read<typeof errors>;

const assignment = objectWith({
  attribute: text(),
  /** 1..M; null if one-to-one leaves none. */
  concept: nullable(count),
  ari: number(),
});
/** Which concept stands for an attribute. */
export type AriAssignment = Read<typeof assignment>;

const ariTable = objectWith({
  attributes: list(attribute),
  /** [M][V] */
  matrix: list(list(number())),
  /** The concept of largest ARI for each attribute, as in the paper, and their mean. */
  best: list(assignment),
  average: number(),
  /** 95% interval of the average; resampled problems choose their best concepts anew. */
  averageInterval: optional(objectWith({ low: number(), high: number() })),
  /** Each concept for one attribute at most, with the largest sum. */
  oneToOne: list(assignment),
  averageOneToOne: number(),
  /** Means of `best` over components, as the paper's table has them; null if there is none. */
  byGroup: objectWith({
    Type: nullable(number()),
    Size: nullable(number()),
    Color: nullable(number()),
    'Num/Pos': nullable(number()),
  }),
});
/** Agreement of rule categories with one kind of rule labels. */
export type AriTable = Read<typeof ariTable>;

const ari = objectWith({
  problems,
  /** Rules parsed from whole matrices, q(r|z), and mirrored ones; Num/Pos labelled by the rule's name. */
  matrix: ariTable,
  /** The same with the authors' labels and their list of attributes. */
  authors: ariTable,
  /** Rules parsed from the eight context panels, p(r|z_C), with our labels. */
  context: ariTable,
  /** Of whole matrices, not mirrored. Earlier evaluations do not have it, nor what follows. */
  oneReading: optional(ariTable),
  /** By a plain mixture on the plane of r with a component for each category, as in the paper. */
  plain: optional(ariTable),
  /** Of groups of concepts; `concept` counts groups. Absent if there is no vocabulary. */
  groups: optional(ariTable),
});
export type AriResult = Read<typeof ari>;

const namedConcept = objectWith({
  /** 1..M */
  concept: count,
  /** An attribute's name, `mixed` or `unused`. */
  name: text(),
  /** Its largest variance decline. */
  score: number(),
});
export type NamedConcept = Read<typeof namedConcept>;

const namedGroup = objectWith({
  /** 1..M */
  concepts: list(count),
  /** How many values it takes. */
  entries: count,
  /** The attributes that these determine. */
  determines: list(text()),
});
/** A group of concepts of the vocabulary. */
export type NamedGroup = Read<typeof namedGroup>;

const vd = objectWith({
  attributes: list(attribute),
  /** Panels of the free batch, and of the batches that fix one attribute. */
  panels: unchecked<number>(),
  seed: unchecked<number>(),
  /** VD [M][V]: 0 no decline, near 1 the concept is this attribute. */
  decline: list(list(number())),
  /** The paper's ratio of log-determinants [M][V]; its sign depends on the scale of concepts. */
  paperRatio: unchecked<readonly (readonly number[])[]>(),
  /** Trace of each concept's covariance [M]. */
  variance: unchecked<readonly number[]>(),
  names: list(namedConcept),
  /** Absent if there is no vocabulary, and in earlier evaluations. */
  groups: optional(list(namedGroup)),
});
export type VarianceDecline = Read<typeof vd>;

const readback = objectWith({
  problems: count,
  seed: integer(),
  /** Imagined panels 9 that obey the problem's rules; unreadable ones count as not. */
  obeys: measured,
  /** Those that agree with what the symbolic solver infers from the context alone. */
  agrees: measured,
  /** Those that are like no panel of the configuration. */
  unreadable: measured,
  /** Panels 9 painted as the mean of what is possible, of models with a vocabulary. */
  meanObeys: optional(measured),
  /** Panels 9 painted after second thoughts; earlier evaluations do not have it. */
  carefulObeys: optional(measured),
  /** One to eight panels missing at random positions, all of them imagined, by models that can. */
  missing: optional(
    list(
      objectWith({
        targets: count,
        problems: count,
        /** Matrices of which all nine panels together obey the rules. */
        obeys: measured,
        meanObeys: optional(measured),
        /** After second thoughts, if one is missing. */
        carefulObeys: optional(measured),
      }),
    ),
  ),
  /** The same for the true answers drawn from their own concepts: what the decoder can show at best. */
  reconstructedObeys: optional(measured),
  reconstructedUnreadable: optional(measured),
  /** Share of readable imagined panels whose attribute is that of the answer. */
  byAttribute: list(objectWith({ attribute, share })),
});
/** Whether imagined panels, read back as attributes, obey the rules. */
export type ReadbackResult = Read<typeof readback>;

const rules = objectWith({
  problems: count,
  seed: integer(),
  /** Namings that are exactly the set of rules that hold for the true panels. */
  right: measured,
  /** Wrong: another set was named; silent: nothing was said of the attribute. */
  byAttribute: list(objectWith({ attribute, right: share, wrong: share, silent: share })),
  /** Namings by how sure they were; bins without any are left out. */
  calibration: list(
    objectWith({
      /** The bin, and the mean confidence in it. */
      from: unchecked<number>(),
      to: unchecked<number>(),
      count,
      confidence: share,
      right: share,
    }),
  ),
  /** Problems that a rule on Number leaves open; null if there are none. */
  several: nullable(
    objectWith({
      problems: count,
      /** Different answers asked for in each: as many as are right, but no more than this. */
      asked: count,
      /** The share of them that obey the rules. */
      right: share,
    }),
  ),
});
/** Rules named in people's words, on fresh problems. */
export type RulesNamedResult = Read<typeof rules>;

const example = objectWith({
  configuration: oneOf(CONFIGURATIONS),
  noisy: boolean,
  variant: oneOf(VARIANTS),
  seed: count,
  index: count,
  /** The right and the chosen candidate, from 1. */
  answer: count,
  chosen: count,
  confidence: unchecked<number>(),
});
/** A problem worth showing: `sampleProblem` of these gives it again. */
export type ExampleProblem = Read<typeof example>;

const evaluation = objectWith({
  format: oneOf([EVALUATION_FORMAT]),
  version: oneOf([EVALUATION_VERSION]),
  /** As the model was asked for: a name of the zoo, a folder, a run. */
  model: unchecked<string>(),
  /** The bundle's own name, e.g. `grid-2x2`, or that of a run, e.g. `grid-2x2-scl-paper`. */
  name: text(),
  system: text(),
  preset: text(),
  configuration: oneOf(CONFIGURATIONS),
  noisy: boolean,
  /** Null for a system without concepts. */
  sizes: nullable(objectWith({ concepts: count, conceptSize: count, ruleSize: count })),
  /** How the model was trained: plain facts. */
  training: dictionary(unchecked<string | number>()),
  conditions,
  /** The sets of problems; all of them also give those of GSA, errors and ARI. */
  data: list(measuredData),
  /** One for each set of problems given. */
  selection: nullable(selection),
  gsa: nullable(gsa),
  errors: nullable(errors),
  /** Null also if the bundle has no rule prior. */
  ari: nullable(ari),
  vd: nullable(vd),
  readback: nullable(readback),
  examples: maybeLost(list(example)),
  /** Curves of training. */
  history: maybeLost(
    list(objectWith({ name: text(), steps: list(count), values: list(number()) })),
  ),
  /** Seconds each metric took. */
  seconds: maybeLost<Readonly<Partial<Record<MetricName, number>>>>(dictionary(number())),
  /** Null also if the bundle has no vocabulary. */
  rules: maybeLost(nullable(rules)),
});
/** Everything measured on one model; a metric that was not asked for, or that it cannot have, is null. */
export type ModelEvaluation = Read<typeof evaluation>;

/** An evaluation read from a file. */
export function parseEvaluation(json: string, file: string): ModelEvaluation {
  const value = parseJson(json, FormatError, file);
  read(evaluation, value, FormatError, file);
  return value as ModelEvaluation;
}
