/**
 * What a whole evaluation of a model gives: plain data that `crab evaluate --json` prints, reports are
 * drawn from and tables are filled with. Every share is a fraction 0..1; every interval is 95%, by
 * bootstrap over problems, of shares of exactly 0 or 1 by Wilson's formula. Concepts are numbered
 * 1..M, panels 1..9, candidates from 1.
 */
import type { AttributeColumn, AttributeGroup, Configuration, Variant } from '../matrix/index.js';
import type { BundleSizes, HistoryCurve } from '../solver/index.js';

export const EVALUATION_FORMAT = 'crab-evaluation';
export const EVALUATION_VERSION = 2;

/** What can be measured, in the order of measuring. */
export const METRIC_NAMES = ['sa', 'gsa', 'errors', 'ari', 'vd', 'readback', 'rules'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];

/** A value and its 95% interval. */
export interface Measured {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** How candidates are called where a person reads. */
export const VARIANT_NAMES: Readonly<Record<Variant, string>> = {
  raven: 'RAVEN',
  'i-raven': 'I-RAVEN',
  'raven-fair': 'RAVEN-FAIR',
  'raven-unique': 'RAVEN-unique',
};

/** A set of problems that a model was measured on. */
export interface MeasuredData {
  /** The path as given, or a description of generated problems. */
  readonly data: string;
  /** How the wrong candidates were made, if that is known. */
  readonly variant: Variant | null;
  /** Of a model that was trained on all configurations, and is measured on each; else it is the model's own. */
  readonly configuration?: Configuration;
  readonly count: number;
  /** Of fresh problems of our generator; absent for data that were given. */
  readonly seed?: number;
  /** Tells data apart that have the same name but other content. */
  readonly fingerprint?: string;
}

/** What decides about the numbers of an evaluation, besides the data. */
export interface MeasuringConditions {
  /** SHA-256 of a bundle's manifest, which holds those of its files, or of a run's weights. */
  readonly bundle: string | null;
  /** Those asked for, without those that the system cannot have. */
  readonly metrics: readonly MetricName[];
  /** Problems of GSA and ARI, and repeats of GSA. */
  readonly problems: number;
  readonly repeats: number;
  /** Panels of each batch of VD; problems of errors and of reading back. */
  readonly panels: number;
  readonly pictures: number;
  /** If one was told; else each metric has its own. */
  readonly seed?: number;
}

/** Selection accuracy on one set of problems. */
export interface SelectionResult extends MeasuredData {
  /** By the model's own measure: with concepts the calibrated distance, ties painted, else its score. */
  readonly sa: Measured;
  /** By plain L2 on concepts, as in the paper; absent for a model without. */
  readonly saL2?: Measured;
}

/** Problems that a metric was measured on. */
export interface MeasuredProblems {
  /** Problems of the data, of all sets in turns; a matrix that is in several sets counts once. */
  readonly fromData: number;
  /** Fresh problems of our generator, added if the data had too few. */
  readonly generated: number;
  /** Seed of the generated ones; problem n is index n. */
  readonly seed: number;
}

/** One point of a GSA curve. */
export interface GsaPoint {
  /** |T|, the number of missing panels. */
  readonly targets: number;
  /** N_C, the number of candidates offered. */
  readonly candidates: number;
  /** One choice for all targets together, distances added up: by the own distance and by L2. */
  readonly accuracy: Measured;
  readonly accuracyL2?: Measured;
  /** One choice for each target by itself. These three are absent for a model without concepts. */
  readonly each?: Measured;
  readonly eachL2?: Measured;
}

export interface GsaResult {
  readonly problems: MeasuredProblems;
  readonly repeats: number;
  readonly seed: number;
  readonly points: readonly GsaPoint[];
}

/** Differences of pixel values, which are 0 (black) to 1 (paper). */
export interface PixelError {
  readonly meanSquared: Measured;
  readonly meanAbsolute: Measured;
}

export interface PixelErrors {
  readonly problems: MeasuredProblems;
  /** Panels drawn from their own concepts, of models that have some. */
  readonly reconstruction?: PixelError;
  /** Panel 9 imagined from the eight others. */
  readonly prediction: PixelError;
  /** One panel at a random position, imagined from the eight others, by models that can. */
  readonly predictionAnywhere?: PixelError;
  /** The mean of all panels in place of the one at a random position: what a model draws that learned nothing. */
  readonly meanPanel?: PixelError;
}

/** Which concept stands for an attribute. */
export interface AriAssignment {
  readonly attribute: string;
  /** 1..M; null if one-to-one leaves none. */
  readonly concept: number | null;
  readonly ari: number;
}

/** Agreement of rule categories with one kind of rule labels. */
export interface AriTable {
  readonly attributes: readonly AttributeColumn[];
  /** [M][V] */
  readonly matrix: readonly (readonly number[])[];
  /** The concept of largest ARI for each attribute, as in the paper, and their mean. */
  readonly best: readonly AriAssignment[];
  readonly average: number;
  /** 95% interval of the average; resampled problems choose their best concepts anew. */
  readonly averageInterval?: { readonly low: number; readonly high: number };
  /** Each concept for one attribute at most, with the largest sum. */
  readonly oneToOne: readonly AriAssignment[];
  readonly averageOneToOne: number;
  /** Means of `best` over components, as the paper's table has them; null if there is none. */
  readonly byGroup: Readonly<Record<Exclude<AttributeGroup, 'Rotation'>, number | null>>;
}

export interface AriResult {
  readonly problems: MeasuredProblems;
  /** Rules parsed from whole matrices, q(r|z), and mirrored ones; Num/Pos labelled by the rule's name. */
  readonly matrix: AriTable;
  /** The same with the authors' labels and their list of attributes. */
  readonly authors: AriTable;
  /** Rules parsed from the eight context panels, p(r|z_C), with our labels. */
  readonly context: AriTable;
  /** Of whole matrices, not mirrored. Earlier evaluations do not have it, nor what follows. */
  readonly oneReading?: AriTable;
  /** By a plain mixture on the plane of r with a component for each category, as in the paper. */
  readonly plain?: AriTable;
  /** Of groups of concepts; `concept` counts groups. Absent if there is no vocabulary. */
  readonly groups?: AriTable;
}

/** How a concept is called: an attribute's name, `mixed` or `unused`. */
export interface NamedConcept {
  /** 1..M */
  readonly concept: number;
  readonly name: string;
  /** Its largest variance decline. */
  readonly score: number;
}

export interface VarianceDecline {
  readonly attributes: readonly AttributeColumn[];
  /** Panels of the free batch, and of the batches that fix one attribute. */
  readonly panels: number;
  readonly seed: number;
  /** VD [M][V]: 0 no decline, near 1 the concept is this attribute. */
  readonly decline: readonly (readonly number[])[];
  /** The paper's ratio of log-determinants [M][V]; its sign depends on the scale of concepts. */
  readonly paperRatio: readonly (readonly number[])[];
  /** Trace of each concept's covariance [M]. */
  readonly variance: readonly number[];
  readonly names: readonly NamedConcept[];
  /** Groups of the vocabulary; absent if there is none, and in earlier evaluations. */
  readonly groups?: readonly NamedGroup[];
}

/** A group of concepts (1..M), how many values it takes, and the attributes that these determine. */
export interface NamedGroup {
  readonly concepts: readonly number[];
  readonly entries: number;
  readonly determines: readonly string[];
}

/** Whether imagined panels, read back as attributes, obey the rules. */
export interface ReadbackResult {
  readonly problems: number;
  readonly seed: number;
  /** Imagined panels 9 that obey the problem's rules; unreadable ones count as not. */
  readonly obeys: Measured;
  /** Those that agree with what the symbolic solver infers from the context alone. */
  readonly agrees: Measured;
  /** Those that are like no panel of the configuration. */
  readonly unreadable: Measured;
  /** Panels 9 painted as the mean of what is possible, of models with a vocabulary. */
  readonly meanObeys?: Measured;
  /** Panels 9 painted after second thoughts; earlier evaluations do not have it. */
  readonly carefulObeys?: Measured;
  /** One to eight panels missing at random positions, all of them imagined, by models that can. */
  readonly missing?: readonly {
    readonly targets: number;
    readonly problems: number;
    /** Matrices of which all nine panels together obey the rules. */
    readonly obeys: Measured;
    readonly meanObeys?: Measured;
    /** After second thoughts, if one is missing. */
    readonly carefulObeys?: Measured;
  }[];
  /** The same for the true answers drawn from their own concepts: what the decoder can show at best. */
  readonly reconstructedObeys?: Measured;
  readonly reconstructedUnreadable?: Measured;
  /** Share of readable imagined panels whose attribute is that of the answer. */
  readonly byAttribute: readonly { readonly attribute: AttributeColumn; readonly share: number }[];
}

/** Rules named in people's words, on fresh problems. */
export interface RulesNamedResult {
  readonly problems: number;
  readonly seed: number;
  /** Namings that are exactly the set of rules that hold for the true panels. */
  readonly right: Measured;
  readonly byAttribute: readonly {
    readonly attribute: AttributeColumn;
    readonly right: number;
    /** Namings of another set, and attributes of which nothing was said. */
    readonly wrong: number;
    readonly silent: number;
  }[];
  /** Namings by how sure they were; bins without any are left out. */
  readonly calibration: readonly {
    /** The bin, and the mean confidence in it. */
    readonly from: number;
    readonly to: number;
    readonly count: number;
    readonly confidence: number;
    readonly right: number;
  }[];
  /** Problems that a rule on Number leaves open; null if there are none. */
  readonly several: {
    readonly problems: number;
    /** Different answers asked for in each: as many as are right, but no more than this. */
    readonly asked: number;
    /** The share of them that obey the rules. */
    readonly right: number;
  } | null;
}

/** A problem worth showing: `sampleProblem` of these gives it again. */
export interface ExampleProblem {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly variant: Variant;
  readonly seed: number;
  readonly index: number;
  /** The right and the chosen candidate, from 1. */
  readonly answer: number;
  readonly chosen: number;
  readonly confidence: number;
}

/** Everything measured on one model; a metric that was not asked for, or that it cannot have, is null. */
export interface ModelEvaluation {
  readonly format: typeof EVALUATION_FORMAT;
  readonly version: typeof EVALUATION_VERSION;
  /** As the model was asked for: a name of the zoo, a folder, a run. */
  readonly model: string;
  /** The bundle's own name, e.g. `grid-2x2`, or that of a run, e.g. `grid-2x2-scl-paper`. */
  readonly name: string;
  readonly system: string;
  readonly preset: string;
  readonly configuration: Configuration;
  readonly noisy: boolean;
  /** Null for a system without concepts. */
  readonly sizes: BundleSizes | null;
  /** How the model was trained: plain facts. */
  readonly training: Readonly<Record<string, string | number>>;
  readonly conditions: MeasuringConditions;
  /** The sets of problems; all of them also give those of GSA, errors and ARI. */
  readonly data: readonly MeasuredData[];
  /** One for each set of problems given. */
  readonly selection: readonly SelectionResult[] | null;
  readonly gsa: GsaResult | null;
  readonly errors: PixelErrors | null;
  /** Null also if the bundle has no rule prior. */
  readonly ari: AriResult | null;
  readonly vd: VarianceDecline | null;
  readonly readback: ReadbackResult | null;
  /** Null also if the bundle has no vocabulary. */
  readonly rules: RulesNamedResult | null;
  readonly examples: readonly ExampleProblem[];
  /** Curves of training. */
  readonly history: readonly HistoryCurve[];
  /** Seconds each metric took. */
  readonly seconds: Readonly<Partial<Record<MetricName, number>>>;
}
