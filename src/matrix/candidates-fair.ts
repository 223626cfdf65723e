/**
 * RAVEN-FAIR's candidates (Benny, Pekar and Wolf, "Scale-Localized Abstract Reasoning"): each wrong one
 * changes an attribute of the answer or of another wrong one, so that they grow like a tree and the
 * answer is not the one in the middle of all others. On the way from the answer to a candidate no
 * attribute is changed twice, in whichever component.
 *
 * A candidate remembers what its children have used: their sets of slots, and each entity's levels. A
 * child starts with what its parent remembered before it, so elder siblings bar their values for it too.
 */
import { drawEntities, moveTo, otherCounts, UnusedSlots } from './edits.js';
import { modifiableAttributes, type Modifiable } from './modifiable.js';
import type { Plan } from './plan.js';
import type { AttributeChange, Candidate, ComponentPanel, Panel } from './problem.js';
import type { Random } from './random.js';
import {
  originalRange,
  rulesOf,
  VALUE_KEYS,
  type PossibleRules,
  type ValueAttribute,
  type ValueKey,
} from './rules.js';
import { slotMask } from './slots.js';

/** What the children of a candidate have used of one component. */
interface ComponentMemory {
  /** Sets of slots, as masks. */
  slots: number[];
  /** Levels used for each entity, as bits. */
  levels: Record<ValueKey, number[]>;
}

/** A candidate that others may be made from. */
interface Parent {
  readonly candidate: Candidate;
  /** What may still be changed, and how often. */
  readonly open: { readonly change: Modifiable; budget: number }[];
  readonly memory: ComponentMemory[];
}

interface FairSituation {
  readonly random: Random;
  readonly plan: Plan;
  readonly possible: readonly PossibleRules[];
  readonly answer: Panel;
}

const nothingUsed = ({ entities }: ComponentPanel): ComponentMemory => ({
  slots: [],
  levels: {
    type: entities.map(() => 0),
    size: entities.map(() => 0),
    color: entities.map(() => 0),
  },
});

const copyMemory = ({ slots, levels: { type, size, color } }: ComponentMemory) => ({
  slots: [...slots],
  levels: { type: [...type], size: [...size], color: [...color] },
});

class FairTree {
  readonly #situation: FairSituation;

  constructor(situation: FairSituation) {
    this.#situation = situation;
  }

  root(): Parent {
    const candidate: Candidate = { panel: this.#situation.answer, changes: [] };
    const memory = candidate.panel.components.map(nothingUsed);
    return { candidate, open: this.#open(candidate), memory };
  }

  /** What may be changed in a candidate: nothing whose name was changed on the way to it. */
  #open({ panel, changes }: Candidate): Parent['open'] {
    const { plan, possible } = this.#situation;
    return modifiableAttributes(plan.components, possible.map(rulesOf), panel)
      .filter(({ attribute }) => !changes.some((earlier) => earlier.attribute === attribute))
      .map((change) => ({ change, budget: change.budget }));
  }

  /** A child of a candidate; undefined if the attribute that was drawn has no value left. */
  grow(parent: Parent): Parent | undefined {
    const at = this.#situation.random.below(parent.open.length);
    const entry = parent.open[at];
    if (--entry.budget === 0) parent.open.splice(at, 1);
    const { component, attribute } = entry.change;
    const memory = parent.memory.map(copyMemory);
    const panel = this.#edited(parent, entry.change);
    if (!panel) return undefined;
    if (attribute === 'Number') memory[component].levels = nothingUsed(panel).levels;
    const candidate: Candidate = {
      panel: {
        components: parent.candidate.panel.components.map((same, index) =>
          index === component ? panel : same,
        ),
      },
      changes: [...parent.candidate.changes, { component, attribute }],
    };
    return { candidate, open: this.#open(candidate), memory };
  }

  #edited(parent: Parent, { component, attribute }: AttributeChange): ComponentPanel | undefined {
    const panel = parent.candidate.panel.components[component];
    const memory = parent.memory[component];
    if (attribute === 'Number') return this.#newNumber(panel, memory, component);
    if (attribute === 'Position') return this.#newPosition(panel, memory, component);
    return this.#newLevels(panel, memory, component, attribute);
  }

  /** Another level for each entity by itself. */
  #newLevels(
    { uniformity, entities }: ComponentPanel,
    memory: ComponentMemory,
    component: number,
    attribute: ValueAttribute,
  ): ComponentPanel | undefined {
    const { random, plan } = this.#situation;
    const { min, max } = originalRange(plan.layout.components[component], attribute);
    const key = VALUE_KEYS[attribute];
    const used = memory.levels[key];
    const free = entities.map((entity, index) => {
      const levels: number[] = [];
      for (let level = min; level <= max; level++) {
        if (level !== entity[key] && !(used[index] & (1 << level))) levels.push(level);
      }
      return levels;
    });
    if (free.some((levels) => levels.length === 0)) return undefined;
    const drawn = free.map((levels) => random.pick(levels));
    drawn.forEach((level, index) => (used[index] |= 1 << level));
    return {
      uniformity,
      entities: entities.map((entity, index) => ({ ...entity, [key]: drawn[index] })),
    };
  }

  #unused(panel: ComponentPanel, memory: ComponentMemory, component: number): UnusedSlots {
    const { random, plan } = this.#situation;
    return new UnusedSlots(
      random,
      plan.layout.components[component].slots.length,
      panel,
      memory.slots,
    );
  }

  #newPosition(
    panel: ComponentPanel,
    memory: ComponentMemory,
    component: number,
  ): ComponentPanel | undefined {
    const unused = this.#unused(panel, memory, component);
    const count = panel.entities.length;
    if (unused.left(count) === 0) return undefined;
    const slots = unused.draw(count);
    memory.slots.push(slotMask(slots));
    return moveTo(panel, slots);
  }

  /** Another number of new entities, drawn from the levels a first column may have. */
  #newNumber(
    panel: ComponentPanel,
    memory: ComponentMemory,
    component: number,
  ): ComponentPanel | undefined {
    const { random, plan, possible } = this.#situation;
    const layout = plan.layout.components[component];
    const unused = this.#unused(panel, memory, component);
    const counts = otherCounts(layout, panel.entities.length).filter(
      (count) => unused.left(count) > 0,
    );
    if (counts.length === 0) return undefined;
    const slots = unused.draw(random.pick(counts));
    memory.slots.push(slotMask(slots));
    const entities = drawEntities(random, layout, possible[component], slots);
    return { uniformity: panel.uniformity, entities };
  }
}

/**
 * The answer, first, and `wanted - 1` wrong candidates that `accept` takes; fewer if all that may be
 * changed is used up.
 */
export function fairCandidates(
  situation: FairSituation,
  wanted: number,
  accept: (panel: Panel) => boolean,
): Candidate[] {
  const tree = new FairTree(situation);
  const parents = [tree.root()];
  while (parents.length < wanted) {
    const open = parents.filter((parent) => parent.open.length > 0);
    if (open.length === 0) break;
    const child = tree.grow(situation.random.pick(open));
    if (child && accept(child.candidate.panel)) parents.push(child);
  }
  return parents.map(({ candidate }) => candidate);
}
