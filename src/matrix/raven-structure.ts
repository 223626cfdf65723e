/**
 * The symbolic arrays beside the images of a RAVEN problem file: the names of the configuration's
 * tree (`structure`), and its rules and structure as multi-hot vectors (`meta_*`).
 */
import { FormatError } from '../base/index.js';
import { ALL_LAYOUTS, MESH_LAYOUTS, type ConfigurationLayout } from './layouts.js';
import {
  CANDIDATE_ATTRIBUTES,
  RULE_ATTRIBUTES,
  RULE_NAMES,
  type ComponentRules,
  type RuleAttribute,
  type RuleName,
} from './problem.js';
import { groupOf, RULE_GROUPS } from './rules.js';

/** A rule as files name it; the parameter is in none of them. */
export interface NamedRule {
  readonly name: RuleName;
  readonly attribute: RuleAttribute;
}

/** Columns of `meta_matrix`: the rule names, then the attributes. */
const META_COLUMNS = RULE_NAMES.length + CANDIDATE_ATTRIBUTES.length;
const RULES_PER_COMPONENT = RULE_GROUPS.length;
const META_ROWS = 2 * RULES_PER_COMPONENT;

const META_STRUCTURE = [
  ...['Singleton', 'Left_Right', 'Up_Down', 'Out_In'],
  ...['Left', 'Right', 'Up', 'Down', 'Out', 'In', 'Grid'],
  ...['Center_Single', 'Distribute_Four', 'Distribute_Nine'],
  ...['Left_Center_Single', 'Right_Center_Single', 'Up_Center_Single', 'Down_Center_Single'],
  ...['Out_Center_Single', 'In_Center_Single', 'In_Distribute_Four'],
];

const MESH_META_ROWS = META_ROWS + RULES_PER_COMPONENT;

export const MESH_META_MATRIX_SHAPE = [MESH_META_ROWS, META_COLUMNS] as const;
export const META_MATRIX_SHAPE = [META_ROWS, META_COLUMNS] as const;
export const META_STRUCTURE_LENGTH = META_STRUCTURE.length;
export const META_TARGET_LENGTH = META_COLUMNS;

/** The tree in pre-order; "/" closes a node. */
export function structureNames(layout: ConfigurationLayout): string[] {
  const components = layout.components.flatMap(({ name, layout: inner }) => [
    name,
    inner,
    '/',
    '/',
  ]);
  return ['Scene', layout.structure, ...components, '/', '/'];
}

/** The layouts with this tree: one, or the noisy and the noise-free form of one configuration. */
export function layoutsOfStructure(names: readonly string[]): ConfigurationLayout[] {
  const wanted = names.join(' ');
  const found = [...ALL_LAYOUTS, ...MESH_LAYOUTS].filter(
    (layout) => structureNames(layout).join(' ') === wanted,
  );
  if (found.length === 0) throw new FormatError(`unknown structure "${wanted.slice(0, 200)}"`);
  return found;
}

/** Which parts the tree has, [21]. */
export function metaStructure(layout: ConfigurationLayout): Uint8Array {
  const names = new Set(structureNames(layout));
  return Uint8Array.from(META_STRUCTURE, (name) => (names.has(name) ? 1 : 0));
}

/**
 * One row for each rule, [8, 9]: its name, then the attributes it is on. With a mesh [12, 9], and the
 * rows of the mesh are the last four.
 */
export function metaMatrix(
  rules: readonly (ComponentRules | readonly NamedRule[])[],
  mesh = false,
): Uint8Array {
  const matrix = new Uint8Array((mesh ? MESH_META_ROWS : META_ROWS) * META_COLUMNS);
  const rows = rules.flatMap((own, component) => {
    const first =
      mesh && component === rules.length - 1 ? META_ROWS : component * RULES_PER_COMPONENT;
    return own.map((rule, i) => ({ ...rule, row: first + i }));
  });
  rows.forEach(({ name, attribute, row }) => {
    matrix[row * META_COLUMNS + RULE_NAMES.indexOf(name)] = 1;
    CANDIDATE_ATTRIBUTES.forEach((column, i) => {
      if (attribute.split('/').includes(column)) {
        matrix[row * META_COLUMNS + RULE_NAMES.length + i] = 1;
      }
    });
  });
  return matrix;
}

/** Which rules and attributes occur at all, [9]. */
export function metaTarget(matrix: Uint8Array): Uint8Array {
  const target = new Uint8Array(META_COLUMNS);
  matrix.forEach((value, i) => (target[i % META_COLUMNS] |= value));
  return target;
}

/** The rules that a `meta_matrix` names, for each component. */
export function rulesOfMetaMatrix(
  matrix: Uint8Array,
  components: number,
  mesh: boolean,
): NamedRule[][] {
  return Array.from({ length: components }, (_, component) =>
    Array.from({ length: RULES_PER_COMPONENT }, (_, i) => {
      const place = mesh && component === components - 1 ? 2 : component;
      const row = place * RULES_PER_COMPONENT + i;
      return ruleOfRow(matrix.subarray(row * META_COLUMNS, (row + 1) * META_COLUMNS), row);
    }),
  );
}

function ruleOfRow(cells: Uint8Array, row: number): NamedRule {
  const names = RULE_NAMES.filter((_, i) => cells[i] === 1);
  const attributes = CANDIDATE_ATTRIBUTES.filter((_, i) => cells[RULE_NAMES.length + i] === 1);
  const attribute = RULE_ATTRIBUTES.find((known) => known === attributes.join('/'));
  const isInGroup =
    attribute !== undefined && groupOf(attribute) === RULE_GROUPS[row % RULES_PER_COMPONENT];
  if (names.length !== 1 || !isInGroup) {
    throw new FormatError(`row ${row} of meta_matrix is no rule`);
  }
  return { name: names[0], attribute };
}
