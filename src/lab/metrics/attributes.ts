/**
 * The true attributes that concepts and rules are compared with: for each component Num/Pos where it
 * has several slots, Type, Size and Color where they vary, and Rotation, which has no rule but which a
 * concept may well have learned. Named as in the paper: `Type Left`, `Num/Pos In`, `Color`.
 */
import type { ConfigurationLayout, LevelRange } from '../../matrix/index.js';
import type { AttributeColumn, AttributeGroup } from '../evaluation.js';

const varies = ({ min, max }: LevelRange): boolean => max > min;

/** The name of an attribute; the component is told where there are two. */
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
