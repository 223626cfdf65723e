/** Panels for the rendering tests: a fixed few that show every level, and any at random. */
import fc from 'fast-check';
import type {
  ComponentLayout,
  ConfigurationLayout,
  Entity,
  LevelRange,
  Panel,
  Problem,
} from '../../src/matrix/index.js';

/** Number of fixed panels for each layout. */
export const FIXED_PANELS = 8;

/** A panel whose entities step through the levels, so that eight of them show every angle and type. */
export function fixedPanel(layout: ConfigurationLayout, step: number): Panel {
  const components = layout.components.map(({ slots }, component) => {
    const count = 1 + ((step * 3 + 1) % slots.length);
    const entities = Array.from({ length: count }, (_, index): Entity => {
      const turn = step + 3 * index + 5 * component;
      return {
        slot: (index + step) % slots.length,
        type: 1 + (turn % 5),
        size: (turn * 5 + 2) % 6,
        color: (turn * 3) % 10,
        angle: (step + 2 * index) % 8,
      };
    });
    return { uniformity: 0, entities };
  });
  return { components };
}

const levelIn = ({ min, max }: LevelRange): fc.Arbitrary<number> => fc.integer({ min, max });

function arbitraryComponent(layout: ComponentLayout): fc.Arbitrary<Panel['components'][number]> {
  const slots = layout.slots.map((_, slot) => slot);
  return fc.shuffledSubarray(slots, { minLength: 1 }).chain((taken) =>
    fc
      .tuple(
        ...taken.map((slot) =>
          fc.record({
            slot: fc.constant(slot),
            type: levelIn(layout.type),
            size: levelIn({ min: 0, max: 5 }),
            color: levelIn({ min: 0, max: 9 }),
            angle: levelIn({ min: 0, max: 7 }),
          }),
        ),
      )
      .map((entities) => ({ uniformity: 0, entities })),
  );
}

/** Any drawable panel of a layout, of all sizes, colours and angles, whatever the layout's ranges. */
export const arbitraryPanel = (layout: ConfigurationLayout): fc.Arbitrary<Panel> =>
  fc.tuple(...layout.components.map(arbitraryComponent)).map((components) => ({ components }));

/** A problem made of the fixed panels; its rules mean nothing. */
export function fixedProblem(layout: ConfigurationLayout, target: number): Problem {
  const panels = Array.from({ length: 16 }, (_, step) => fixedPanel(layout, step % FIXED_PANELS));
  return {
    configuration: layout.configuration,
    noisy: layout.noisy,
    variant: 'raven',
    context: panels.slice(0, 8),
    candidates: panels.slice(8).map((panel) => ({ panel, changes: [] })),
    target,
    rules: [],
  };
}
