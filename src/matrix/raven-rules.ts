/**
 * What RAVEN's files leave out and a problem needs: the parameter of each rule, which the nine panels
 * show, and (in RAVEN, not in I-RAVEN) the attributes in which each candidate differs.
 */
import { FormatError } from '../base/index.js';
import type { ComponentLayout } from './layouts.js';
import type {
  AttributeChange,
  CandidateAttribute,
  ComponentPanel,
  ComponentRules,
  Panel,
  Rule,
} from './problem.js';
import type { NamedRule } from './raven-structure.js';
import { positionStep, VALUE_KEYS } from './rules.js';
import { ruleHolds } from './symbolic.js';

const STEPS = [1, -1, 2, -2] as const;
const SIGNS = [1, -1] as const;
const ROW = 3;

/** The rules of one component with their parameters; `panels` are the nine of the matrix. */
export function completeRules(
  layout: ComponentLayout,
  rules: readonly NamedRule[],
  panels: readonly ComponentPanel[],
): ComponentRules {
  const [first, type, size, color] = rules.map((rule) => completeRule(layout, rule, panels));
  return [first, type, size, color];
}

function completeRule(
  layout: ComponentLayout,
  rule: NamedRule,
  panels: readonly ComponentPanel[],
): Rule {
  if (rule.name === 'Constant' || rule.name === 'Distribute_Three') return { ...rule, value: 0 };
  const values: readonly number[] = rule.name === 'Progression' ? STEPS : SIGNS;
  const possible = values
    .map((value): Rule => ({ ...rule, value }))
    .filter((complete) => ruleHolds(layout, complete, complete, panels));
  const movesSlots = rule.name === 'Progression' && rule.attribute === 'Position';
  const found = movesSlots
    ? possible.find(({ value }) =>
        everyEntityMoves(panels, positionStep(layout, value), layout.slots.length),
      )
    : possible.at(0);
  if (found) return found;
  throw new FormatError(`${rule.name} of ${rule.attribute} does not hold in its rows`);
}

/**
 * Whether each entity of a row moves by a number of slots. Sets of slots alone cannot always tell a
 * step of +1 from -1; entities keep their order, which can.
 */
const everyEntityMoves = (
  panels: readonly ComponentPanel[],
  step: number,
  slotCount: number,
): boolean =>
  panels.every(({ entities }, index) => {
    if (index % ROW === 0) return true;
    const before = panels[index - 1].entities;
    return entities.every(
      ({ slot }, i) => slot === (before[i].slot + step + slotCount) % slotCount,
    );
  });

/** The attributes in which a panel differs from the answer, by component. */
export function changesFrom(answer: Panel, panel: Panel): AttributeChange[] {
  return answer.components.flatMap((mine, component) =>
    differences(mine, panel.components[component]).map((attribute) => ({ component, attribute })),
  );
}

function differences(a: ComponentPanel, b: ComponentPanel): CandidateAttribute[] {
  // Entities of another number are other entities: their attributes cannot be compared.
  if (a.entities.length !== b.entities.length) return ['Number'];
  const places = new Set(a.entities.map(({ slot }) => slot));
  const moved: CandidateAttribute[] = b.entities.every(({ slot }) => places.has(slot))
    ? []
    : ['Position'];
  const changed = (['Type', 'Size', 'Color'] as const).filter((attribute) =>
    a.entities.some(
      (entity, i) => entity[VALUE_KEYS[attribute]] !== b.entities[i][VALUE_KEYS[attribute]],
    ),
  );
  return [...moved, ...changed];
}
