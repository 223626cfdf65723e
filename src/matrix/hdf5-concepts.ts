/**
 * The labels of the CRAB authors' HDF5 caches: for each problem one number per concept, the index of
 * its rule. Which concepts there are depends on the configuration.
 */
import { FormatError } from '../base/index.js';
import { RULE_NAMES, type Configuration, type RuleAttribute } from './problem.js';
import type { Label, LabelRule } from './set-label.js';

type Concept = readonly [attribute: RuleAttribute, component: number];

const of = (component: number, ...attributes: RuleAttribute[]): Concept[] =>
  attributes.map((attribute) => [attribute, component]);

const FIGURE = ['Type', 'Size', 'Color'] as const;
const CONCEPTS: Record<Configuration, readonly Concept[]> = {
  center: of(0, ...FIGURE),
  'left-right': [...of(0, ...FIGURE), ...of(1, ...FIGURE)],
  'up-down': [...of(0, ...FIGURE), ...of(1, ...FIGURE)],
  'out-in-center': [...of(0, 'Type', 'Size'), ...of(1, ...FIGURE)],
  'out-in-grid': [...of(0, 'Type'), ...of(1, 'Position', ...FIGURE)],
  'grid-2x2': of(0, 'Number', ...FIGURE),
  'grid-3x3': of(0, 'Position', ...FIGURE),
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
