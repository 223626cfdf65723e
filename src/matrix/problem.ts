/**
 * What a Raven's matrix is, as plain immutable data. Everything an image shows follows from these
 * values; nothing here knows how a problem is sampled, drawn or stored.
 *
 * "Level" means a 0-based index into a value table of `attributes.ts`, as in the data sets' XML.
 */

/** Panels of a matrix whose answer is filled in, and those that are given. */
export const MATRIX_PANELS = 9;
export const CONTEXT_PANELS = MATRIX_PANELS - 1;
export const CANDIDATES = 8;

export const CONFIGURATIONS = [
  'center',
  'left-right',
  'up-down',
  'out-in-center',
  'out-in-grid',
  'grid-2x2',
  'grid-3x3',
] as const;
export type Configuration = (typeof CONFIGURATIONS)[number];

/**
 * How the seven wrong candidates are made. `raven-unique` is RAVEN without wrong candidates that look
 * the same; the others are described in `candidates.ts`.
 */
export const VARIANTS = ['raven', 'i-raven', 'raven-fair', 'raven-unique'] as const;
export type Variant = (typeof VARIANTS)[number];

/** How candidates are called where a person reads. */
export const VARIANT_NAMES: Readonly<Record<Variant, string>> = {
  raven: 'RAVEN',
  'i-raven': 'I-RAVEN',
  'raven-fair': 'RAVEN-FAIR',
  'raven-unique': 'RAVEN-unique',
};

/** The two that the paper reports, and that are measured unless others are asked for. */
export const PAPER_VARIANTS = ['raven', 'i-raven'] as const satisfies readonly Variant[];

/** One drawn figure. Angle has no rule: it is noise, unless a configuration fixes it. */
export interface Entity {
  /** Index into the layout's slots. */
  readonly slot: number;
  /** Level 1..5: triangle, square, pentagon, hexagon, circle; 6, line, in a mesh. */
  readonly type: number;
  /** Level 0..5. */
  readonly size: number;
  /** Level 0..9, 0 white, 9 black. */
  readonly color: number;
  /** Level 0..7, 3 upright. */
  readonly angle: number;
}

/** One component (left, right, inner grid, …) of one panel. */
export interface ComponentPanel {
  /** Level 0..3 of Uniformity; 3 means all entities of the component are alike. */
  readonly uniformity: number;
  /** In drawing order; never empty, no slot twice. */
  readonly entities: readonly Entity[];
}

/** One of the nine images, or a candidate: one entry for each component of the configuration. */
export interface Panel {
  readonly components: readonly ComponentPanel[];
}

export const RULE_NAMES = ['Constant', 'Progression', 'Arithmetic', 'Distribute_Three'] as const;
export type RuleName = (typeof RULE_NAMES)[number];

export const RULE_ATTRIBUTES = [
  'Number/Position',
  'Number',
  'Position',
  'Type',
  'Size',
  'Color',
] as const;
export type RuleAttribute = (typeof RULE_ATTRIBUTES)[number];

/** The attributes that a wrong candidate can differ in. */
export const CANDIDATE_ATTRIBUTES = ['Number', 'Position', 'Type', 'Size', 'Color'] as const;
export type CandidateAttribute = (typeof CANDIDATE_ATTRIBUTES)[number];

/** A rule on one attribute of one component; every row of the matrix obeys it. */
export interface Rule {
  readonly name: RuleName;
  readonly attribute: RuleAttribute;
  /** Progression: the step, -2, -1, 1 or 2. Arithmetic: +1 or -1. Otherwise 0. */
  readonly value: number;
}

/** The four rules of a component: Number/Position group, Type, Size, Color, in this order. */
export type ComponentRules = readonly [Rule, Rule, Rule, Rule];

/** An attribute of a component in which a candidate was made to differ from the answer. */
export interface AttributeChange {
  readonly component: number;
  readonly attribute: CandidateAttribute;
}

export const isSameChange = (a: AttributeChange, b: AttributeChange): boolean =>
  a.component === b.component && a.attribute === b.attribute;

export interface Candidate {
  readonly panel: Panel;
  /** Empty for the answer. */
  readonly changes: readonly AttributeChange[];
}

/** A complete problem: eight context panels, the answer, eight candidates, and the rules. */
export interface Problem {
  readonly configuration: Configuration;
  /** RAVEN's original noise on attributes and rotation; only the three configurations with grids have a noise-free form. */
  readonly noisy: boolean;
  /** With a mesh of lines as its last component, as in I-RAVEN-Mesh; absent: without. */
  readonly mesh?: boolean;
  readonly variant: Variant;
  /** Panels 1..8, row by row. */
  readonly context: readonly Panel[];
  /** Eight, shuffled; exactly one is the answer. */
  readonly candidates: readonly Candidate[];
  /** 0-based index of the answer among the candidates. */
  readonly target: number;
  /** One entry for each component. */
  readonly rules: readonly ComponentRules[];
}

/** The answer of a problem, its ninth panel. */
export const answerOf = ({ candidates, target }: Pick<Problem, 'candidates' | 'target'>): Panel =>
  candidates[target].panel;

/** The eight context panels, then the answer. */
export const matrixPanels = (problem: Problem): readonly Panel[] => [
  ...problem.context,
  answerOf(problem),
];

/** The eight context panels, then the eight candidates. */
export const problemPanels = ({ context, candidates }: Problem): readonly Panel[] => [
  ...context,
  ...candidates.map(({ panel }) => panel),
];
