/**
 * Works out one component of a matrix from what its nine pictures show and what a label tells of its
 * rules: which rules hold, which entity is which along a row, and so the Size and Angle of figures that
 * are drawn alike. What stays open is chosen as `problem-reader.ts` says.
 */
import { UNIFORM, UPRIGHT } from './attributes.js';
import { FormatError } from '../base/index.js';
import type { ComponentLayout } from './layouts.js';
import type { SeenEntity } from './panel-reader.js';
import type { ComponentPanel, ComponentRules, Rule } from './problem.js';
import {
  groupOf,
  regenerates,
  RULE_GROUPS,
  ruleTables,
  type RuleGroup,
  type ValueAttribute,
} from './rules.js';
import type { LabelRule } from './set-label.js';
import { ruleHolds } from './symbolic.js';

/** The entities of one panel, in an order in which the panels of a row correspond. */
type Seen = readonly SeenEntity[];

interface ComponentRows {
  /** Nine, row by row. */
  readonly panels: readonly ComponentPanel[];
  readonly rules: ComponentRules;
}

const NOT_UNIFORM = 0;
const ROWS = [0, 3, 6] as const;

/** The levels that all of several lists have. */
const shared = (lists: readonly (readonly number[])[]): number[] =>
  lists.reduce<number[]>(
    (kept, list) => kept.filter((level) => list.includes(level)),
    lists.length === 0 ? [] : [...lists[0]],
  );

/** Upright if that is possible. */
export const likelyAngle = (angles: readonly number[]): number =>
  angles.includes(UPRIGHT) ? UPRIGHT : angles[0];

const canBeAlike = (seen: Seen): boolean =>
  new Set(seen.map(({ type, color }) => `${type} ${color}`)).size === 1 &&
  shared(seen.map(({ sizes }) => sizes)).length > 0 &&
  shared(seen.map(({ angles }) => angles)).length > 0;

/** The Uniformity that nine panels can have, likeliest first. */
function uniformities({ uniformity }: ComponentLayout, panels: readonly Seen[]): number[] {
  const possible = panels.every(canBeAlike) ? [UNIFORM, NOT_UNIFORM] : [NOT_UNIFORM];
  return possible.filter((level) => level >= uniformity.min);
}

/** Whether a rule can be what a label tells; the authors' caches call Constant what has no rule there. */
function agreesWith(rule: Rule, told: LabelRule): boolean {
  if (told.name === 'Constant' && (told.attribute === 'Number' || told.attribute === 'Position')) {
    return rule.attribute !== told.attribute;
  }
  return (
    rule.name === told.name &&
    rule.attribute === told.attribute &&
    (told.value === null || rule.value === told.value)
  );
}

/** The rules of a group that a label leaves possible, likeliest first. */
function allowedRules(
  layout: ComponentLayout,
  group: RuleGroup,
  label: readonly LabelRule[],
): Rule[] {
  const told = label.find(({ attribute }) => groupOf(attribute) === group);
  const rules = ruleTables(layout)
    [group].rules.map(({ rule }) => rule)
    .filter((rule) => told === undefined || agreesWith(rule, told));
  // Slots that follow a rule on Position do so hardly ever by chance; their numbers follow more easily.
  const rank = ({ name, attribute }: Rule): number =>
    name === 'Constant' ? 0 : attribute === 'Number' ? 2 : 1;
  return rules.sort((a, b) => rank(a) - rank(b));
}

/** One entity along a row, as far as it is followed. */
interface Track {
  readonly entities: Seen;
  readonly sizes: readonly number[];
  readonly angles: readonly number[];
}

/**
 * Finds for each track an entity of the next panel that can be the same one moved. Attributes that all
 * entities of a panel share may change from panel to panel; the others cannot.
 */
function follow(tracks: readonly Track[], next: Seen, fixed: FixedAttributes): Track[] | null {
  if (tracks.length === 0) return [];
  const [track, ...rest] = tracks;
  const [before] = track.entities;
  for (const entity of next) {
    if (fixed.type && entity.type !== before.type) continue;
    if (fixed.color && entity.color !== before.color) continue;
    const sizes = fixed.size ? shared([track.sizes, entity.sizes]) : entity.sizes;
    const angles = shared([track.angles, entity.angles]);
    if (sizes.length === 0 || angles.length === 0) continue;
    const others = follow(
      rest,
      next.filter((other) => other !== entity),
      fixed,
    );
    if (others) return [{ entities: [...track.entities, entity], sizes, angles }, ...others];
  }
  return null;
}

type FixedAttributes = Readonly<Record<'type' | 'size' | 'color', boolean>>;

const differsWithin = (panels: readonly Seen[]): FixedAttributes => ({
  type: panels.some((seen) => seen.some(({ type }) => type !== seen[0].type)),
  color: panels.some((seen) => seen.some(({ color }) => color !== seen[0].color)),
  size: panels.some((seen) => shared(seen.map(({ sizes }) => sizes)).length === 0),
});

/** The panels of a row with corresponding entities at the same places; null if they cannot be. */
function alignedRow(
  row: readonly Seen[],
  rule: Rule,
  slotCount: number,
  uniform: boolean,
  fixed: FixedAttributes,
): Seen[] | null {
  if (regenerates(rule)) return [...row];
  if (rule.name === 'Distribute_Three') {
    if (uniform) return [...row];
    let tracks: Track[] | null = row[0].map((entity) => ({ entities: [entity], ...entity }));
    for (const next of row.slice(1)) tracks = tracks && follow(tracks, next, fixed);
    return tracks && row.map((_, column) => tracks.map(({ entities }) => entities[column]));
  }
  const columns = row.map((seen, column) =>
    row[0].flatMap(({ slot }) => {
      const place = (slot + column * rule.value + 2 * slotCount) % slotCount;
      return seen.filter((entity) => entity.slot === place);
    }),
  );
  return columns.every((column, i) => column.length === row[i].length) ? columns : null;
}

/** Groups of entities, as [panel, place], that have Angle and whatever is Constant in common. */
function kinOf(panels: readonly Seen[], rule: Rule, uniform: boolean): [number, number][][] {
  const all = panels.map((seen, panel) => seen.map((_, i): [number, number] => [panel, i]));
  if (uniform) return ROWS.map((row) => all.slice(row, row + 3).flat());
  if (regenerates(rule)) return all.flat().map((one) => [one]);
  return ROWS.flatMap((row) =>
    all[row].map((_, i) => [row, row + 1, row + 2].map((panel): [number, number] => [panel, i])),
  );
}

/** One value for each entity of each panel. */
type Levels = number[][];

/** A level for each entity: one for all of a kin if they can have one, else one of its own. */
function levelsOfKin(
  panels: readonly Seen[],
  kin: readonly (readonly [number, number][])[],
  open: (entity: SeenEntity) => readonly number[],
  choose: (levels: readonly number[]) => number,
): Levels {
  const levels: Levels = panels.map((seen) => seen.map((entity) => choose(open(entity))));
  for (const group of kin) {
    const common = shared(group.map(([panel, i]) => open(panels[panel][i])));
    if (common.length === 0) continue;
    for (const [panel, i] of group) levels[panel][i] = choose(common);
  }
  return levels;
}

/** Every way to give each panel one Size that all its entities can have. */
function* commonSizes(panels: readonly Seen[]): Generator<Levels> {
  if (panels.length === 0) {
    yield [];
    return;
  }
  const [first, ...rest] = panels;
  for (const size of shared(first.map(({ sizes }) => sizes))) {
    for (const others of commonSizes(rest)) yield [first.map(() => size), ...others];
  }
}

const described = (
  panels: readonly Seen[],
  uniformity: number,
  angles: Levels,
  sizes: Levels,
): ComponentPanel[] =>
  panels.map((seen, panel) => ({
    uniformity,
    entities: seen.map(({ slot, type, color }, i) => ({
      slot,
      type,
      size: sizes[panel][i],
      color,
      angle: angles[panel][i],
    })),
  }));

/** What can be said under one rule on Number or Position; null if other rules cannot hold beside it. */
function rowsUnder(
  layout: ComponentLayout,
  seen: readonly Seen[],
  uniformity: number,
  groupRule: Rule,
  label: readonly LabelRule[],
): ComponentRows | null {
  const uniform = uniformity === UNIFORM;
  const fixed = differsWithin(seen);
  const aligned: Seen[] = [];
  for (const row of ROWS) {
    const columns = seen.slice(row, row + 3);
    const found = alignedRow(columns, groupRule, layout.slots.length, uniform, fixed);
    if (!found) return null;
    aligned.push(...found);
  }
  const kin = kinOf(aligned, groupRule, uniform);
  const angles = levelsOfKin(aligned, kin, (entity) => entity.angles, likelyAngle);
  const keptSizes = levelsOfKin(
    aligned,
    kin,
    ({ sizes }) => sizes,
    ([size]) => size,
  );
  const noise = !uniform && regenerates(groupRule);
  const firstHolding = (
    attribute: ValueAttribute,
    choices: (rule: Rule) => Iterable<Levels>,
  ): { readonly rule: Rule; readonly panels: ComponentPanel[] } | null => {
    const allowed = allowedRules(layout, attribute, label);
    // Noise agrees with everything: it is believed only if no rule explains what is seen.
    if (noise && allowed[0]?.name === 'Constant') allowed.push(...allowed.splice(0, 1));
    for (const rule of allowed) {
      for (const sizes of choices(rule)) {
        const panels = described(aligned, uniformity, angles, sizes);
        if (ruleHolds(layout, rule, groupRule, panels)) return { rule, panels };
      }
    }
    return null;
  };
  const type = firstHolding('Type', () => [keptSizes]);
  const color = firstHolding('Color', () => [keptSizes]);
  const size = firstHolding('Size', ({ name }) =>
    name === 'Constant' ? [keptSizes] : commonSizes(aligned),
  );
  if (!type || !size || !color) return null;
  return { panels: size.panels, rules: [groupRule, type.rule, size.rule, color.rule] };
}

const ruleText = ({ name, attribute, value }: LabelRule): string =>
  `${name} of ${attribute}${value === null || value === 0 ? '' : ` (${value})`}`;

/**
 * Reads one component from the entities seen in its nine panels.
 * @param label what is known of its rules: all four, some, or none
 */
export function readComponentRows(
  layout: ComponentLayout,
  seen: readonly Seen[],
  label: readonly LabelRule[],
): ComponentRows {
  const possible = uniformities(layout, seen);
  if (possible.length === 0) {
    throw new FormatError(
      `the figures of a panel differ, which ${layout.layout} has only with noise`,
    );
  }
  const positions = described(
    seen,
    NOT_UNIFORM,
    seen.map((panel) => panel.map(() => UPRIGHT)),
    seen.map((panel) => panel.map(({ sizes }) => sizes[0])),
  );
  const groupRules = allowedRules(layout, RULE_GROUPS[0], label).filter((rule) =>
    ruleHolds(layout, rule, rule, positions),
  );
  for (const uniformity of possible) {
    for (const groupRule of groupRules) {
      const found = rowsUnder(layout, seen, uniformity, groupRule, label);
      if (found) return found;
    }
  }
  const rules = label.length === 0 ? 'no rules of RAVEN' : label.map(ruleText).join(', ');
  throw new FormatError(
    label.length === 0
      ? `${rules} hold in the rows of its component ${layout.name}`
      : `its label tells ${rules} for its component ${layout.name}, which do not all hold in its rows`,
  );
}
