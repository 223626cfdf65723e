/**
 * The labels of the CRAB authors' HDF5 caches: for each problem one number per concept, the index of
 * its rule. Which concepts there are depends on the configuration.
 */
import { FormatError } from '../base/index.js';
import { RULE_NAMES, type Configuration, type RuleAttribute } from './problem.js';
import type { Label, LabelRule } from './set-label.js';

type Concept = readonly [attribute: RuleAttribute, component: number];

const inBoth = (attributes: readonly RuleAttribute[]): Concept[] =>
  [0, 1].flatMap((component) => attributes.map((attribute): Concept => [attribute, component]));

const CONCEPTS: Record<Configuration, readonly Concept[]> = {
  center: [
    ['Type', 0],
    ['Size', 0],
    ['Color', 0],
  ],
  'left-right': inBoth(['Type', 'Size', 'Color']),
  'up-down': inBoth(['Type', 'Size', 'Color']),
  'out-in-center': [
    ['Type', 0],
    ['Size', 0],
    ['Type', 1],
    ['Size', 1],
    ['Color', 1],
  ],
  'out-in-grid': [
    ['Type', 0],
    ['Position', 1],
    ['Type', 1],
    ['Size', 1],
    ['Color', 1],
  ],
  'grid-2x2': [
    ['Number', 0],
    ['Type', 0],
    ['Size', 0],
    ['Color', 0],
  ],
  'grid-3x3': [
    ['Position', 0],
    ['Type', 0],
    ['Size', 0],
    ['Color', 0],
  ],
};

/** How many concepts a cache of this configuration labels. */
export const conceptCount = (configuration: Configuration): number =>
  CONCEPTS[configuration].length;

/**
 * The label that a cache's row means. Steps and signs are not in a cache, so they are null; a concept
 * without a rule of its own reads as Constant there, and here too.
 */
export function labelOfConcepts(configuration: Configuration, row: readonly number[]): Label {
  const concepts = CONCEPTS[configuration];
  if (row.length !== concepts.length) {
    throw new FormatError(
      `a label of ${row.length} concepts: ${configuration} has ${concepts.length}`,
    );
  }
  const components: LabelRule[][] = [[], []];
  concepts.forEach(([attribute, component], i) => {
    const name = RULE_NAMES.at(row[i]);
    if (name === undefined || row[i] < 0) throw new FormatError(`rule number ${row[i]} is unknown`);
    const value = name === 'Constant' || name === 'Distribute_Three' ? 0 : null;
    components[component].push({ name, attribute, value });
  });
  return components.filter((rules) => rules.length > 0);
}
