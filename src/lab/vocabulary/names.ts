/**
 * People's names for the entries of groups. This is the one place where labels are used: panels whose
 * attributes are known tell which level each entry stands for. A group determines an attribute if the entry
 * tells its level nearly always; if several groups do, the one that tells it best has it.
 */
import {
  attributeColumns,
  levelOf,
  ruleGroupOf,
  type ConfigurationLayout,
  type Panel,
} from '../../matrix/index.js';
import type { NamedAttribute } from '../../solver/index.js';

/** How much of what chance leaves open an entry must tell of an attribute. */
const DETERMINED_FROM = 0.9;
/** A level is one that an entry may stand for if this share of its panels has it. */
const LEVEL_FROM = 0.05;

/** How often each level goes with each entry. */
type Table = readonly ReadonlyMap<number, number>[];

function tableOf(
  labels: readonly (number | null)[],
  levels: readonly number[],
  entries: number,
): Table {
  const table = Array.from({ length: entries }, () => new Map<number, number>());
  labels.forEach((entry, n) => {
    if (entry === null) return;
    table[entry].set(levels[n], (table[entry].get(levels[n]) ?? 0) + 1);
  });
  return table;
}

const most = (counts: ReadonlyMap<number, number>): number => Math.max(0, ...counts.values());
const total = (counts: ReadonlyMap<number, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

/** The share of panels whose level an entry tells, above the best guess without it: 0 to 1. */
function told(table: Table): number {
  const all = new Map<number, number>();
  for (const counts of table) {
    for (const [level, count] of counts) all.set(level, (all.get(level) ?? 0) + count);
  }
  const panels = total(all);
  const right = table.reduce((sum, counts) => sum + most(counts), 0);
  return panels === most(all) ? 0 : (right - most(all)) / (panels - most(all));
}

/**
 * Names for the entries of each group.
 * @param symbols the entry of each group in each panel, [n][groups]
 * @param sizes entries of each group
 */
export function nameEntries(
  layout: ConfigurationLayout,
  panels: readonly Panel[],
  symbols: readonly (readonly (number | null)[])[],
  sizes: readonly number[],
): NamedAttribute[][] {
  const named: NamedAttribute[][] = sizes.map(() => []);
  for (const column of attributeColumns(layout)) {
    const levels = panels.map((panel) => levelOf(column, panel));
    const tables = sizes.map((size, g) =>
      tableOf(
        symbols.map((each) => each[g]),
        levels,
        size,
      ),
    );
    const scores = tables.map(told);
    const best = scores.indexOf(Math.max(...scores));
    if (best < 0 || scores[best] < DETERMINED_FROM) continue;
    const values = tables[best].map((counts) => {
      const least = LEVEL_FROM * total(counts);
      const likely = [...counts].filter(([, count]) => count >= least).map(([level]) => level);
      return likely.length === 0 ? [levels[0]] : likely.sort((a, b) => a - b);
    });
    const { name, component } = column;
    named[best].push({ name, component, group: ruleGroupOf(column), values });
  }
  return named;
}
