/**
 * The true attributes that concepts and rules are compared with: for each component Num/Pos if it
 * has several slots, Type, Size and Color if they vary, and Rotation, which has no rule but which a
 * concept may well have learned. Named as in the paper: `Type Left`, `Num/Pos In`, `Color`.
 */
import {
  slotMask,
  type ConfigurationLayout,
  type LevelRange,
  type Panel,
  type RuleGroup,
} from '../../matrix/index.js';
import type { AttributeColumn, AttributeGroup } from '../evaluation.js';

const varies = ({ min, max }: LevelRange): boolean => max > min;

/** What entities have of each attribute but Num/Pos. */
export const LEVEL_KEYS = {
  Type: 'type',
  Size: 'size',
  Color: 'color',
  Rotation: 'angle',
} as const;

/** The level of an attribute in a panel whose entities are alike; for Num/Pos its slots, as bits. */
export function levelOf({ component, group }: AttributeColumn, panel: Panel): number {
  const { entities } = panel.components[component];
  if (group === 'Num/Pos') return slotMask(entities.map(({ slot }) => slot));
  return entities[0][LEVEL_KEYS[group]];
}

/** The group of rules on an attribute; null for Rotation, which has none. */
export function ruleGroupOf({ group }: AttributeColumn): RuleGroup | null {
  if (group === 'Rotation') return null;
  return group === 'Num/Pos' ? 'Number/Position' : group;
}

/** The name of an attribute; the component is told if there are two. */
export function attributeName(
  layout: ConfigurationLayout,
  component: number,
  group: string,
): string {
  return layout.components.length > 1 ? `${group} ${layout.components[component].name}` : group;
}

/** Attributes that vary, component by component; those that rules are on, unless Rotation is wanted. */
export function attributeColumns(
  layout: ConfigurationLayout,
  { rotation = false } = {},
): AttributeColumn[] {
  return layout.components.flatMap(({ slots, type, size, color, angle }, component) => {
    const present: readonly [AttributeGroup, boolean][] = [
      ['Num/Pos', slots.length > 1],
      ['Type', varies(type)],
      ['Size', varies(size)],
      ['Color', varies(color)],
      ['Rotation', rotation && varies(angle)],
    ];
    return present
      .filter(([, isPresent]) => isPresent)
      .map(([group]) => ({ name: attributeName(layout, component, group), component, group }));
  });
}
