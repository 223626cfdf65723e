/** Questions with everything but pixels checked, and what the reasoner is fed of them. */
import { MATRIX_PANELS } from '../matrix/index.js';
import { ArgumentError } from '../base/index.js';
import { hasRules, systemOf, type BundleManifest, type BundleSizes } from './bundle.js';
import type { NamedPanel, ReasonerInput } from './networks.js';
import {
  checkMissing,
  conceptIndex,
  type ImposedRules,
  type MatrixInput,
  type Question,
} from './questions.js';

export interface CheckedQuestion {
  /** Positions 1..9, rising. */
  readonly missing: readonly number[];
  /** By concept; null if the parsed rule is used. */
  readonly imposed: readonly (Float32Array | null)[];
}

function checkRules(rules: ImposedRules, manifest: BundleManifest): (Float32Array | null)[] {
  const { concepts, ruleSize } = manifest.sizes;
  const imposed = Array.from({ length: concepts }, (): Float32Array | null => null);
  if (!hasRules(manifest) && Object.keys(rules).length > 0) {
    throw new ArgumentError(
      `rules: a model of ${systemOf(manifest)} has none, so none can be imposed`,
    );
  }
  for (const [concept, rule] of Object.entries(rules)) {
    if (rule.length !== ruleSize || !rule.every(Number.isFinite)) {
      throw new ArgumentError(`the rule for concept ${concept} is not ${ruleSize} numbers`);
    }
    imposed[conceptIndex(concept, manifest)] = Float32Array.from(rule);
  }
  return imposed;
}

export function checkQuestion(
  { missing = [MATRIX_PANELS], rules = {} }: Omit<Question, 'panels'>,
  manifest: BundleManifest,
): CheckedQuestion {
  return { missing: checkMissing(missing), imposed: checkRules(rules, manifest) };
}

/** A given panel and its position, 0..8. */
interface PresentPanel extends NamedPanel {
  readonly position: number;
}

/** Panels that are not missing, from all nine or from those alone. */
export function presentPanels(panels: MatrixInput, missing: readonly number[]): PresentPanel[] {
  const positions = Array.from({ length: MATRIX_PANELS }, (_, i) => i).filter(
    (position) => !missing.includes(position + 1),
  );
  if (panels.length !== MATRIX_PANELS && panels.length !== positions.length) {
    throw new ArgumentError(
      `${panels.length} panels: expected nine, or the ${positions.length} that are not missing`,
    );
  }
  const whole = panels.length === MATRIX_PANELS;
  return positions.map((position, i) => {
    const input = panels[whole ? position : i];
    const what = `panel ${position + 1}`;
    if (input === null || input === undefined) {
      throw new ArgumentError(`${what} is not given and not said to be missing`);
    }
    return { position, input, what };
  });
}

/** `concepts` [N, 9, M, d_z] of all panels, anything finite at missing ones. */
export function reasonerInput(
  questions: readonly CheckedQuestion[],
  concepts: Float32Array,
  { concepts: m, ruleSize }: BundleSizes,
): ReasonerInput {
  const count = questions.length;
  const mask = new Float32Array(count * MATRIX_PANELS);
  const rules = new Float32Array(count * m * ruleSize);
  const useRules = new Float32Array(count * m);
  questions.forEach(({ missing, imposed }, n) => {
    for (const position of missing) mask[n * MATRIX_PANELS + position - 1] = 1;
    imposed.forEach((rule, c) => {
      if (rule === null) return;
      rules.set(rule, (n * m + c) * ruleSize);
      useRules[n * m + c] = 1;
    });
  });
  return { count, concepts, mask, rules, useRules };
}
