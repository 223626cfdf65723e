/**
 * The attributes that concepts and rules are compared with, of each component those that vary in a
 * configuration. Named as in the paper: `Type Left`, `Num/Pos In`, `Color`.
 */
import type { ComponentLayout, ConfigurationLayout } from './layouts.js';
import type { Panel } from './problem.js';
import { groupOf, VALUE_KEYS, type RuleGroup } from './rules.js';
import type { Label, LabelRule } from './set-label.js';
import { maskOf } from './slots.js';

/** What rules are on, as the paper's tables call it. */
const RULED = ['Num/Pos', 'Type', 'Size', 'Color'] as const;
type RuledGroup = (typeof RULED)[number];
/** Rotation has no rule, but a concept may well have learned it. */
export type AttributeGroup = RuledGroup | 'Rotation';

/** An attribute of a component, e.g. `Size Left`; without the component if there is only one. */
export interface AttributeColumn<Group extends AttributeGroup = AttributeGroup> {
  readonly name: string;
  readonly component: number;
  readonly group: Group;
}

/** The key of an entity that holds an attribute other than Num/Pos. */
export const LEVEL_KEYS = { ...VALUE_KEYS, Rotation: 'angle' } as const;

function varies(layout: ComponentLayout, group: AttributeGroup): boolean {
  if (group === 'Num/Pos') return layout.slots.length > 1;
  const { min, max } = layout[LEVEL_KEYS[group]];
  return max > min;
}

const columnsOf = <Group extends AttributeGroup>(
  { components }: ConfigurationLayout,
  groups: readonly Group[],
): AttributeColumn<Group>[] =>
  components.flatMap((layout, component) => {
    const suffix = components.length > 1 ? ` ${layout.name}` : '';
    return groups
      .filter((group) => varies(layout, group))
      .map((group) => ({ name: group + suffix, component, group }));
  });

/** The attributes that rules can be on. */
export const attributeColumns = (layout: ConfigurationLayout): AttributeColumn<RuledGroup>[] =>
  columnsOf(layout, RULED);

/** The attributes that concepts can stand for: the same, and Rotation. */
export const conceptColumns = (layout: ConfigurationLayout): AttributeColumn[] =>
  columnsOf<AttributeGroup>(layout, [...RULED, 'Rotation']);

/** The level of an attribute in a panel whose entities are alike; for Num/Pos its slots, as bits. */
export function levelOf({ component, group }: AttributeColumn, panel: Panel): number {
  const { entities } = panel.components[component];
  if (group === 'Num/Pos') return maskOf(panel.components[component]);
  return entities[0][LEVEL_KEYS[group]];
}

/** The group of rules on an attribute. */
export const ruleGroupOf = ({ group }: AttributeColumn<RuledGroup>): RuleGroup =>
  group === 'Num/Pos' ? 'Number/Position' : group;

/** The rule on an attribute; undefined if it has none or the label does not tell. */
export const ruleOn = (
  label: Label,
  { component, group }: AttributeColumn,
): LabelRule | undefined =>
  label
    .at(component)
    ?.find(({ attribute }) => groupOf(attribute).replace('Number/Position', 'Num/Pos') === group);
