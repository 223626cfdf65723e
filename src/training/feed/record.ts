/**
 * A problem as bytes, as training uses it. The layout is the same in the threads that make problems, in
 * stored sets, in pools on a device and on every rank:
 *
 *     pictures  u8 [9, S, S]     the nine panels, the answer last
 *            or u8 [16, S, S]    eight context panels, then eight candidates
 *     answer    u8 [1]           with candidates: the answer's index among them
 *     rules     u8 [2, 4, 3]     with rules, by component and group (Number/Position, Type, Size, Color): index
 *                                of the rule in RULE_NAMES, of its attribute in RULE_ATTRIBUTES, and 128 + its
 *                                value (step and sign); 255 for a component that is not there
 *     meta      u8 [9], u8 [21]  with rules: RAVEN's meta target and meta structure
 */
import {
  CANDIDATES,
  CONFIGURATIONS,
  CONTEXT_PANELS,
  drawInto,
  hasGrid,
  layoutOf,
  MATRIX_PANELS,
  metaMatrix,
  META_STRUCTURE_LENGTH,
  META_TARGET_LENGTH,
  metaStructure,
  metaTarget,
  parseConstraints,
  problemPanels,
  RULE_ATTRIBUTES,
  RULE_NAMES,
  samplePanels,
  sampleProblem,
  type Configuration,
  type ConfigurationLayout,
  type Label,
  type Panel,
  type Plan,
  type SetBatch,
} from '../../matrix/index.js';
import type { Needs, ProblemBatch } from '../../models/index.js';
import type { Tensor } from '../../torch/index.js';
import { TrainingError } from '../errors.js';

const COMPONENTS = 2;
const GROUPS = 4;
const RULE_BYTES = COMPONENTS * GROUPS * 3;
const VALUE_OFFSET = 128;
const ABSENT = 255;

/** Where endless problems come from; problem i of it is the same wherever and whenever it is made. */
export interface ProblemSource {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly seed: number;
  /** Problem i is of configuration i mod 7, noisy if that has a noisy form, whatever the fields above say. */
  readonly mixed?: boolean;
  /** Parsed JSON of fixed rules and values or of a regime, as `parseConstraints` reads it. */
  readonly rules?: unknown;
}

/** Plans of sources with rules; a source is one object for as long as it is used. */
const plans = new WeakMap<object, Map<ConfigurationLayout, Plan>>();

/** What the problems of a source are drawn by; undefined if nothing is fixed. */
function planOf(rules: unknown, layout: ConfigurationLayout): Plan | undefined {
  if (typeof rules !== 'object' || rules === null) return undefined;
  let known = plans.get(rules);
  if (!known) plans.set(rules, (known = new Map<ConfigurationLayout, Plan>()));
  let plan = known.get(layout);
  if (!plan) known.set(layout, (plan = parseConstraints(rules, layout)));
  return plan;
}

/** What problem `index` of a source is drawn from. */
export function problemOf(source: ProblemSource, index: number) {
  const { mixed, seed, rules } = source;
  const configuration = mixed
    ? CONFIGURATIONS[index % CONFIGURATIONS.length]
    : source.configuration;
  const noisy = mixed ? hasGrid(configuration) : source.noisy;
  const constraints = planOf(rules, layoutOf(configuration, noisy));
  return { configuration, noisy, seed, index, constraints };
}

/** Refuses rules that do not fit all configurations of a source. */
export function requireFittingRules(source: ProblemSource): void {
  const first = source.mixed ? CONFIGURATIONS.length : 1;
  for (let index = 0; index < first; index++) problemOf(source, index);
}

export interface RecordLayout extends Pick<Needs, 'imageSize' | 'candidates' | 'rules'> {
  /** Pictures of a problem: 9 or 16. */
  readonly pictures: number;
  /** Bytes of all its pictures, and of the whole record. */
  readonly pixels: number;
  readonly bytes: number;
}

export function recordLayout({
  imageSize,
  candidates,
  rules,
}: Omit<Needs, 'problems'>): RecordLayout {
  const pictures = candidates === null ? MATRIX_PANELS : CONTEXT_PANELS + CANDIDATES;
  const pixels = pictures * imageSize * imageSize;
  const told = rules ? RULE_BYTES + META_TARGET_LENGTH + META_STRUCTURE_LENGTH : 0;
  const bytes = pixels + (candidates === null ? 0 : 1) + told;
  return { imageSize, candidates, rules, pictures, pixels, bytes };
}

/** The nine panels at 64x64 and nothing else: what a system that learns without labels sees. */
export const PANELS_ONLY = recordLayout({ imageSize: 64, candidates: null, rules: false });

/** Writes problem `index` of a source into `out` from `offset`. */
export function makeRecord(
  record: RecordLayout,
  source: ProblemSource,
  index: number,
  out: Uint8Array,
  offset: number,
): void {
  const drawn = problemOf(source, index);
  const layout = layoutOf(drawn.configuration, drawn.noisy);
  const { candidates: variant, imageSize } = record;
  let panels: readonly Panel[];
  let label: Label;
  if (variant === null) {
    ({ panels, rules: label } = samplePanels(drawn));
  } else {
    const problem = sampleProblem({ ...drawn, variant });
    panels = problemPanels(problem);
    label = problem.rules;
    out[offset + record.pixels] = problem.target;
  }
  const size = imageSize * imageSize;
  panels.forEach((panel, n) => drawInto(layout, panel, imageSize, out, offset + n * size));
  if (record.rules) writeRules(record, label, metaStructure(layout), out, offset);
}

/** Writes problem `n` of a batch of a stored set, whose pictures have the record's size. */
export function storeRecord(
  record: RecordLayout,
  batch: SetBatch,
  n: number,
  layout: ConfigurationLayout,
  out: Uint8Array,
  offset: number,
): void {
  const size = record.imageSize * record.imageSize;
  const first = n * MATRIX_PANELS * size;
  if (record.candidates === null) {
    out.set(batch.panel.subarray(first, first + MATRIX_PANELS * size), offset);
  } else {
    const offered = n * CANDIDATES * size;
    out.set(batch.panel.subarray(first, first + CONTEXT_PANELS * size), offset);
    out.set(
      batch.selection.subarray(offered, offered + CANDIDATES * size),
      offset + CONTEXT_PANELS * size,
    );
    out[offset + record.pixels] = batch.answer[n];
  }
  if (record.rules) writeRules(record, batch.label[n], metaStructure(layout), out, offset);
}

function writeRules(
  { pixels, candidates }: RecordLayout,
  label: Label,
  structure: Uint8Array,
  out: Uint8Array,
  offset: number,
): void {
  let at = offset + pixels + (candidates === null ? 0 : 1);
  for (let component = 0; component < COMPONENTS; component++) {
    for (let group = 0; group < GROUPS; group++, at += 3) {
      const rule = label[component]?.[group];
      if (rule === undefined) {
        out.fill(ABSENT, at, at + 3);
        continue;
      }
      if (rule.value === null) {
        throw new TrainingError(
          'this system is told the rules with their steps, which these problems do not have: use a RAVEN folder with XML files, or generated problems',
        );
      }
      out[at] = RULE_NAMES.indexOf(rule.name);
      out[at + 1] = RULE_ATTRIBUTES.indexOf(rule.attribute);
      out[at + 2] = VALUE_OFFSET + rule.value;
    }
  }
  out.set(metaTarget(metaMatrix(label)), at);
  out.set(structure, at + META_TARGET_LENGTH);
}

/** Records u8 [N, bytes] as what a system learns from. */
export function batchOf(record: RecordLayout, rows: Tensor, dtype: 'f32' | 'f64'): ProblemBatch {
  const { imageSize: side, candidates, rules, pictures, pixels } = record;
  const [n] = rows.shape;
  const bytes = rows.narrow(1, 0, pixels).reshape([n, pictures, side, side]);
  // Bytes divided are f32; this is one pass instead of two.
  const images = dtype === 'f32' ? bytes.div(255) : bytes.to({ dtype }).div_(255);
  let at = pixels;
  const take = (bytes: number, type: 'i64' | 'f32' | 'f64'): Tensor => {
    const part = rows.narrow(1, at, bytes).to({ dtype: type }); // [N, bytes]
    at += bytes;
    return part;
  };
  const answer = candidates === null ? null : take(1, 'i64').squeeze(1);
  return {
    panels: answer === null ? images : images.narrow(1, 0, CONTEXT_PANELS),
    choice:
      answer === null ? null : { candidates: images.narrow(1, CONTEXT_PANELS, CANDIDATES), answer },
    labels: rules
      ? {
          rules: take(RULE_BYTES, 'i64').reshape([n, COMPONENTS, GROUPS, 3]),
          metaTarget: take(META_TARGET_LENGTH, dtype),
          metaStructure: take(META_STRUCTURE_LENGTH, dtype),
        }
      : null,
  };
}
