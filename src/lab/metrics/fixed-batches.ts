/**
 * Batches of panels for variance decline: one that is free, and for each attribute batches in which that
 * attribute has one value. All come from the same panels of our generator, of a different problem each,
 * so that nothing but the fixed attribute differs between a free panel and a fixed one.
 */
import {
  LEVEL_KEYS,
  levelsOf,
  MATRIX_PANELS,
  Random,
  samplePanels,
  type AttributeColumn,
  type ComponentLayout,
  type ComponentPanel,
  type ConfigurationLayout,
  type Entity,
  type ImageSide,
  type Panel,
} from '../../matrix/index.js';
import { drawPanels } from './generated-source.js';

/** Most slot sets that Num/Pos is fixed to; nine slots have 511. */
const MOST_SLOT_SETS = 32;

/** A value an attribute can be fixed to. */
type Fixing = (panel: ComponentPanel) => ComponentPanel;

/** Slot sets: all of them if they are few, else different random ones. */
function slotSets(layout: ComponentLayout, random: Random): number[][] {
  const slots = layout.slots.length;
  const all = Array.from({ length: 2 ** slots - 1 }, (_, i) => i + 1);
  const kept = random.subset(all.length, Math.min(all.length, MOST_SLOT_SETS));
  return kept.map((i) => levelsOf({ min: 0, max: slots - 1 }).filter((s) => (all[i] >> s) & 1));
}

/** Everything an attribute of a component can be fixed to. */
function fixingsOf(
  layout: ComponentLayout,
  { group }: AttributeColumn,
  random: Random,
): readonly Fixing[] {
  if (group === 'Num/Pos') {
    return slotSets(layout, random).map((slots) => ({ uniformity, entities }) => ({
      uniformity,
      entities: slots.map((slot, i): Entity => ({ ...entities[i % entities.length], slot })),
    }));
  }
  const key = LEVEL_KEYS[group];
  return levelsOf(layout[key]).map((level) => ({ uniformity, entities }) => ({
    uniformity,
    entities: entities.map((entity): Entity => ({ ...entity, [key]: level })),
  }));
}

const withComponent = (panel: Panel, component: number, fixing: Fixing): Panel => ({
  components: panel.components.map((own, i) => (i === component ? fixing(own) : own)),
});

/** Panels of which one attribute is fixed, to one value after the other. */
interface FixedBatch {
  /** u8 [n, S, S] */
  readonly pictures: Uint8Array;
  /** Which value each panel has: 0 .. values - 1. */
  readonly value: readonly number[];
  readonly values: number;
}

interface VarianceBatches {
  /** u8 [n, S, S] */
  readonly free: Uint8Array;
  /** Made one at a time: pictures take memory. */
  readonly fixed: () => Generator<FixedBatch>;
}

export function varianceBatches(
  layout: ConfigurationLayout,
  attributes: readonly AttributeColumn[],
  count: number,
  seed: number,
  side: ImageSide,
): VarianceBatches {
  const { configuration, noisy } = layout;
  const panels = Array.from(
    { length: count },
    (_, index) =>
      samplePanels({ configuration, noisy, seed, index }).panels[
        new Random(seed, index, 1).below(MATRIX_PANELS)
      ],
  );
  return {
    free: drawPanels(layout, panels, side),
    fixed: function* () {
      for (const [v, attribute] of attributes.entries()) {
        const { component } = attribute;
        const random = new Random(seed, v, 2);
        const fixings = fixingsOf(layout.components[component], attribute, random);
        const value = panels.map((_, i) => i % fixings.length);
        const fixed = panels.map((panel, i) => withComponent(panel, component, fixings[value[i]]));
        yield {
          pictures: drawPanels(layout, fixed, side),
          value,
          values: fixings.length,
        };
      }
    },
  };
}
