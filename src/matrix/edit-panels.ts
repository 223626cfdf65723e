/**
 * Panels changed by hand: what figures of one component show and where they are. The candidates stay, but
 * one that the answer becomes equal to gives way to the answer of before. What they differ in from the
 * answer is told anew, and rules that no longer hold can be asked for.
 */
import { ArgumentError } from '../base/index.js';
import { layoutOfProblem, type ComponentLayout } from './layouts.js';
import {
  answerOf,
  matrixPanels,
  type AttributeChange,
  type CandidateAttribute,
  type ComponentPanel,
  type Entity,
  type Panel,
  type Problem,
  type Rule,
} from './problem.js';
import { VALUE_ATTRIBUTES, VALUE_KEYS } from './rules.js';
import { maskOf } from './slots.js';
import { ruleHolds } from './symbolic.js';
import { panelKey, validatePanel } from './validation.js';

/** One component of one panel; all its figures look the same. */
export interface PanelEdit extends Pick<Entity, 'type' | 'size' | 'color'> {
  /** 1..9 */
  readonly panel: number;
  readonly component: number;
  /** At least one, counted from 0. */
  readonly slots: readonly number[];
}

function editComponent(before: ComponentPanel, { slots, type, size, color }: PanelEdit) {
  // Figures that were there keep their angle; new ones take that of the first.
  const angleAt = (slot: number): number =>
    (before.entities.find((entity) => entity.slot === slot) ?? before.entities[0]).angle;
  const entities = slots.map((slot) => ({ slot, type, size, color, angle: angleAt(slot) }));
  return { uniformity: before.uniformity, entities };
}

const levelsIn = (panel: ComponentPanel, key: 'type' | 'size' | 'color'): string =>
  [...new Set(panel.entities.map((entity) => entity[key]))].sort().join();

function changesOf(answer: ComponentPanel, other: ComponentPanel): CandidateAttribute[] {
  const sameNumber = answer.entities.length === other.entities.length;
  return [
    ...(sameNumber ? [] : (['Number'] as const)),
    ...(sameNumber && maskOf(answer) !== maskOf(other) ? (['Position'] as const) : []),
    ...VALUE_ATTRIBUTES.filter(
      (attribute) =>
        levelsIn(answer, VALUE_KEYS[attribute]) !== levelsIn(other, VALUE_KEYS[attribute]),
    ),
  ];
}

/** In what a panel differs from the answer. */
const differences = (answer: Panel, panel: Panel): AttributeChange[] =>
  answer.components.flatMap((own, component) =>
    changesOf(own, panel.components[component]).map((attribute) => ({ component, attribute })),
  );

/** A problem with panels changed; the ninth is its answer. Throws if a value or place is impossible. */
export function editProblem(problem: Problem, edits: readonly PanelEdit[]): Problem {
  const layout = layoutOfProblem(problem);
  const panels = [...matrixPanels(problem)];
  for (const edit of edits) {
    const before = panels.at(edit.panel - 1);
    if (before?.components.at(edit.component) === undefined) {
      throw new ArgumentError(`there is no part ${edit.component + 1} in panel ${edit.panel}`);
    }
    const components = before.components.map((own, i) =>
      i === edit.component ? editComponent(own, edit) : own,
    );
    validatePanel(layout, { components }, `panel ${edit.panel}`);
    panels[edit.panel - 1] = { components };
  }
  const [answer] = panels.slice(-1);
  const before = answerOf(problem);
  const candidates = problem.candidates.map(({ panel }, i) => {
    if (i === problem.target) return { panel: answer, changes: [] };
    // A wrong candidate that the answer is now equal to changes places with the answer of before.
    const other = panelKey(panel) === panelKey(answer) ? before : panel;
    return { panel: other, changes: differences(answer, other) };
  });
  return { ...problem, context: panels.slice(0, -1), candidates };
}

/** The rules of a problem that its nine panels do not follow. */
export function brokenRules(
  problem: Problem,
): { readonly component: number; readonly rule: Rule }[] {
  const { components } = layoutOfProblem(problem);
  const panels = matrixPanels(problem);
  const isBroken = (layout: ComponentLayout, component: number, rule: Rule): boolean =>
    !ruleHolds(
      layout,
      rule,
      problem.rules[component][0],
      panels.map((panel) => panel.components[component]),
    );
  return components.flatMap((layout, component) =>
    problem.rules[component]
      .filter((rule) => isBroken(layout, component, rule))
      .map((rule) => ({ component, rule })),
  );
}
