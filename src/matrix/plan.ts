/**
 * What a sampler is free to draw: for each component the possible rules with their weights, the values
 * that are fixed in the first column, and the attributes that wrong candidates may change. The free
 * plan of a layout is the data sets' own; `constraints.ts` makes narrower ones.
 */
import { levelsOf } from './attributes.js';
import type { ComponentLayout, ConfigurationLayout } from './layouts.js';
import type { CandidateAttribute } from './problem.js';
import { ruleTables, type RuleGroup, type RuleTable } from './rules.js';

/** Fixed values of the first panel of one row; what is absent is drawn. All are levels. */
export interface RowStart {
  /** Level n - 1 for n entities. */
  readonly number?: number;
  /** Slots in the order of the entities; `number` is then set as well. */
  readonly slots?: readonly number[];
  readonly type?: number;
  readonly size?: number;
  readonly color?: number;
  readonly angle?: number;
}

export interface ComponentPlan {
  readonly layout: ComponentLayout;
  readonly tables: Record<RuleGroup, RuleTable>;
  /** One for each row. */
  readonly starts: readonly [RowStart, RowStart, RowStart];
  /** The levels Uniformity is drawn from. */
  readonly uniformity: readonly number[];
  /** The attributes wrong candidates may change; absent: all that the data sets would change. */
  readonly distractors?: readonly CandidateAttribute[];
}

export interface Plan {
  readonly layout: ConfigurationLayout;
  readonly components: readonly ComponentPlan[];
  /** Keeps plans apart that would otherwise draw the same things for the same seed and index. */
  readonly salt?: number;
}

const NOTHING_FIXED: RowStart = {};

function freeComponent(layout: ComponentLayout): ComponentPlan {
  return {
    layout,
    tables: ruleTables(layout),
    starts: [NOTHING_FIXED, NOTHING_FIXED, NOTHING_FIXED],
    uniformity: levelsOf(layout.uniformity),
  };
}

const freePlans = new WeakMap<ConfigurationLayout, Plan>();

/** The plan of the data sets themselves: nothing is fixed. */
export function freePlan(layout: ConfigurationLayout): Plan {
  let plan = freePlans.get(layout);
  if (!plan) {
    plan = { layout, components: layout.components.map(freeComponent) };
    freePlans.set(layout, plan);
  }
  return plan;
}
