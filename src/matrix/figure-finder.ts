/**
 * Reads panels of a layout from pictures that are not drawn pixel for pixel as the data sets are: scans,
 * SVG, enlarged or blurred. Into each place goes the figure that explains most ink. `PanelReader` compares with
 * the data sets' own drawings instead and tells which descriptions are drawn alike.
 */
import { indexOfLargest } from '../base/index.js';
import { ANGLES, COLORS, levelsOf, TYPES, UNIFORM } from './attributes.js';
import { FigureForm, product, WHOLE_PANEL, type Section } from './figure-form.js';
import type { ComponentLayout, ConfigurationLayout } from './layouts.js';
import type { ComponentPanel, Entity, Panel } from './problem.js';
import { IMAGE_SIZE } from './render-entity.js';
import { entityShape, STRUCTURE_LINE_WIDTH } from './svg-shapes.js';

const CORNERS: Partial<Record<(typeof TYPES)[number], number>> = {
  triangle: 3,
  square: 4,
  pentagon: 5,
  hexagon: 6,
};

/** How far an angle is from the nearest at which lines along the axes stay sharp, then how far it turns. */
const blurOf = (angle: number): number =>
  1000 * (Math.abs(ANGLES[angle]) % 90) + Math.abs(ANGLES[angle]);

/**
 * Angles at which figures of a type look different. Of those that look the same the sharpest stands for all, upright
 * if possible: the data sets turn pixels, and models take a blurred circle for another one.
 */
function anglesOf(component: ComponentLayout, type: number): number[] {
  const corners = CORNERS[TYPES[type]];
  const seen = new Set<number>();
  return levelsOf(component.angle)
    .sort((a, b) => blurOf(a) - blurOf(b))
    .filter((angle) => {
      const turn = corners === undefined ? 0 : (ANGLES[angle] + 360) % (360 / corners);
      return seen.size < seen.add(turn).size;
    });
}

/** Figures, and the squared ink that they explain. */
interface Found<T> {
  readonly gain: number;
  readonly found: T;
}

/** Read one by one, figures that are alike always explain a little more; figures unlike each other at least this much. */
const UNLIKE_EXPLAINS = 1.001;

export interface FinderOptions {
  /** Side that pictures are compared at: 64, or 32 to see quickly how much can be explained. */
  readonly side: 32 | 64;
  /** Whether figures are truncated to whole pixels, as in the raster images. */
  readonly truncated: boolean;
  /** What pictures show of a panel, if it is known; all of it unless told. */
  readonly section?: Section;
}

/** One component of a layout: its forms in each slot and the colours they may have. */
class ComponentFinder {
  /** By type, size and angle. */
  readonly #looks: readonly Omit<Entity, 'slot' | 'color'>[];
  /** By slot, then by look. */
  readonly #forms: readonly (readonly FigureForm[])[];
  readonly #colors: readonly number[];
  readonly #shades: Float64Array;
  readonly #isUniform: boolean;

  constructor(
    layout: ConfigurationLayout,
    index: number,
    { side, truncated, section }: FinderOptions,
  ) {
    const component = layout.components[index];
    const { slots, type, size, color, uniformity } = component;
    this.#looks = levelsOf(type).flatMap((type) =>
      levelsOf(size).flatMap((size) =>
        anglesOf(component, type).map((angle) => ({ type, size, angle })),
      ),
    );
    this.#forms = slots.map((_, slot) =>
      this.#looks.map((look) => {
        const entity = { slot, color: 0, ...look };
        return new FigureForm(entityShape(layout, index, entity, truncated), side, section);
      }),
    );
    this.#colors = levelsOf(color);
    this.#shades = Float64Array.from(this.#colors, (level) => COLORS[level] / 255);
    this.#isUniform = uniformity.min === UNIFORM;
  }

  /** The figures that explain most squared ink; there is always one. */
  find(ink: Float32Array, unlike: boolean): Found<ComponentPanel> {
    const shades = this.#shades;
    const bySlot = this.#forms.map((forms) => {
      const gains = new Float64Array(forms.length * shades.length);
      forms.forEach((form, i) => form.gains(ink, shades, gains, i * shades.length));
      return gains;
    });
    if (!this.#isUniform) return this.#free(bySlot);
    const uniform = this.#uniform(bySlot);
    if (!unlike) return uniform;
    const free = this.#free(bySlot);
    return free.gain > UNLIKE_EXPLAINS * uniform.gain ? free : uniform;
  }

  /** A figure by the number of its look and colour. */
  #entity(slot: number, number: number): Entity {
    const colors = this.#colors.length;
    const look = this.#looks[Math.floor(number / colors)];
    return { slot, ...look, color: this.#colors[number % colors] };
  }

  /** All figures have one look. */
  #uniform(bySlot: readonly Float64Array[]): Found<ComponentPanel> {
    let best = { gain: -Infinity, number: 0 };
    for (let number = 0; number < bySlot[0].length; number++) {
      const gain = totalGain(bySlot.map((gains) => gains[number]));
      if (gain > best.gain) best = { gain, number };
    }
    const { gain, number } = best;
    const entities = worthwhile(bySlot.map((gains) => gains[number])).map((slot) =>
      this.#entity(slot, number),
    );
    return { gain, found: { uniformity: UNIFORM, entities } };
  }

  /** Each figure may have a look of its own. */
  #free(bySlot: readonly Float64Array[]): Found<ComponentPanel> {
    const numbers = bySlot.map(indexOfLargest);
    const gains = bySlot.map((each, slot) => each[numbers[slot]]);
    const entities = worthwhile(gains).map((slot) => this.#entity(slot, numbers[slot]));
    return { gain: totalGain(gains), found: { uniformity: 0, entities } };
  }
}

/** Slots that figures are worth drawing in: all that gain, or the one that loses least. */
function worthwhile(gains: readonly number[]): number[] {
  const most = Math.max(...gains);
  return gains.flatMap((gain, slot) => (gain > 0 || gain === most ? [slot] : []));
}

/** What figures in all slots that are worth it gain; one there is at least. */
function totalGain(gains: readonly number[]): number {
  let [sum, most] = [0, -Infinity];
  for (const gain of gains) {
    if (gain > 0) sum += gain;
    if (gain > most) most = gain;
  }
  return most > 0 ? sum : most;
}

/** A panel as read. */
export interface ReadFigures {
  readonly panel: Panel;
  /** Share of all squared ink that its figures explain: at most 1. */
  readonly explained: number;
  /** The squared ink there is. */
  readonly ink: number;
}

export class FigureFinder {
  readonly #components: readonly ComponentFinder[];

  readonly #side: number;

  constructor(
    readonly layout: ConfigurationLayout,
    options: FinderOptions,
  ) {
    this.#side = options.side;
    this.#components = layout.components.map((_, i) => new ComponentFinder(layout, i, options));
  }

  /**
   * Reads a panel; `ink` is what `inkOf` gives for the same side. Figures may be `unlike` each other even if the
   * layout has them all alike, as in some candidates.
   */
  read(ink: Float32Array, unlike = false): ReadFigures {
    const found = this.#components.map((component) => component.find(ink, unlike));
    const gain = found.reduce((sum, each) => sum + each.gain, this.#lineGain(ink));
    const all = product(ink, ink);
    return {
      panel: { components: found.map((each) => each.found) },
      explained: all === 0 ? 0 : gain / all,
      ink: all,
    };
  }

  /** What the line between two components explains, if there is one. */
  #lineGain(ink: Float32Array): number {
    const { structure } = this.layout;
    if (structure !== 'Left_Right' && structure !== 'Up_Down') return 0;
    const side = this.#side;
    const share = (STRUCTURE_LINE_WIDTH * side) / IMAGE_SIZE;
    let sum = 0;
    for (let i = 0; i < side; i++) {
      const at = structure === 'Left_Right' ? i * side + side / 2 : (side / 2) * side + i;
      sum += share * (2 * ink[at] - share);
    }
    return sum;
  }
}

/** How far a section is tried to be moved or resized from the last, in pixels of the 160x160 image. */
const REACHES = [1.5, 0.5] as const;
/** About as many figures tell a section. */
const TELLING = 6;

/** A section moved to the right or down, or made smaller about its middle. */
const CHANGES: readonly ((section: Section, by: number) => Section)[] = [
  (section, by) => ({ ...section, left: section.left + by }),
  (section, by) => ({ ...section, top: section.top + by }),
  ({ left, top, side }, by) => ({ left: left + by, top: top + by, side: side - 2 * by }),
];

/** Where a parabola through values at -1, 0 and 1 is highest, at most 1 away. */
function peakOf(before: number, at: number, after: number): number {
  const bend = before - 2 * at + after;
  if (bend >= 0) return Math.sign(after - before);
  return Math.max(-1, Math.min(1, (before - after) / (2 * bend)));
}

/** What pictures show of a panel, from figures that were read in them as if they showed just all of it. */
export function sectionOf(
  layout: ConfigurationLayout,
  { side, truncated }: FinderOptions,
  inks: readonly Float32Array[],
  read: readonly ReadFigures[],
): Section {
  const seen = read.flatMap(({ panel }, i) =>
    panel.components.flatMap(({ entities }, component) =>
      entities.map((entity) => ({
        ink: inks[i],
        shape: entityShape(layout, component, entity, truncated),
        shade: Float64Array.of(COLORS[entity.color] / 255),
      })),
    ),
  );
  const every = Math.ceil(seen.length / TELLING);
  const telling = seen.filter((_, i) => i % every === 0);
  const gain = new Float64Array(1);
  const gainOf = (section: Section): number =>
    telling.reduce((sum, { ink, shape, shade }) => {
      new FigureForm(shape, side, section).gains(ink, shade, gain, 0);
      return sum + gain[0];
    }, 0);
  let best = { section: WHOLE_PANEL, gain: gainOf(WHOLE_PANEL) };
  for (const reach of REACHES) {
    for (const change of CHANGES) {
      const [before, after] = [-reach, reach].map((by) => gainOf(change(best.section, by)));
      const section = change(best.section, reach * peakOf(before, best.gain, after));
      const gain = gainOf(section);
      if (gain > best.gain) best = { section, gain };
    }
  }
  return best.section;
}
