/**
 * Reads panels of a layout from pictures that are not drawn pixel for pixel as the data sets are: scans,
 * SVG, enlarged or blurred. Into each place goes the figure that explains most ink. `PanelReader` compares with
 * the data sets' own drawings instead and tells which descriptions are drawn alike.
 */
import { indexOfLargest } from '../base/index.js';
import { ANGLES, COLORS, levelsOf, SIZES, TYPES, UNIFORM } from './attributes.js';
import {
  drawingOf,
  lineDrawingOf,
  SectionView,
  type Drawing,
  type Section,
} from './figure-drawing.js';
import { FigureForm, product } from './figure-form.js';
import type { ComponentLayout, ConfigurationLayout } from './layouts.js';
import type { ComponentPanel, Entity, Panel } from './problem.js';
import { IMAGE_SIZE } from './render-entity.js';
import { sectionNear, type SeenFigure } from './picture-section.js';
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
}

/** Forms of one component by slot, then by look; null for looks that nobody asks for. */
type Forms = readonly (readonly (FigureForm | null)[])[];

/** The squared ink that figures of one component explain: by slot, then by number of look and colour. */
type Gains = readonly Float64Array[];

/** So many looks of a figure are looked at again. */
const LIKELY = 6;

/** The indices of the largest values, the largest first. */
const indicesOfLargest = (values: readonly number[], count: number): number[] =>
  [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, count);

/** One component of a layout: its forms in each slot and the colours they may have. */
class ComponentFinder {
  readonly #layout: ConfigurationLayout;
  readonly #index: number;
  readonly #options: FinderOptions;
  /** By type, size and angle. */
  readonly #looks: readonly Omit<Entity, 'slot' | 'color'>[];
  readonly #colors: readonly number[];
  readonly #shades: Float64Array;
  readonly #isUniform: boolean;
  /** Made when they are first asked for. */
  #plain: Forms | null = null;
  readonly #drawings = new Map<number, Drawing>();

  constructor(layout: ConfigurationLayout, index: number, options: FinderOptions) {
    const component = layout.components[index];
    const { type, size, color, uniformity } = component;
    this.#layout = layout;
    this.#index = index;
    this.#options = options;
    this.#looks = levelsOf(type).flatMap((type) =>
      levelsOf(size).flatMap((size) =>
        anglesOf(component, type).map((angle) => ({ type, size, angle })),
      ),
    );
    this.#colors = levelsOf(color);
    this.#shades = Float64Array.from(this.#colors, (level) => COLORS[level] / 255);
    this.#isUniform = uniformity.min === UNIFORM;
  }

  /** A form of every look in every slot, or null. */
  #ofAll(make: (entity: Entity, look: number) => FigureForm | null): Forms {
    const { slots } = this.#layout.components[this.#index];
    return slots.map((_, slot) =>
      this.#looks.map((look, i) => make({ slot, color: 0, ...look }, i)),
    );
  }

  /** The forms in pictures of whole panels. */
  get plain(): Forms {
    const { side, truncated } = this.#options;
    this.#plain ??= this.#ofAll((entity) =>
      FigureForm.ofShape(entityShape(this.#layout, this.#index, entity, truncated), side),
    );
    return this.#plain;
  }

  /** The forms in a picture of a section: of all looks, or of some in each slot. */
  formsIn(view: SectionView, looks?: readonly ReadonlySet<number>[]): Forms {
    return this.#ofAll((entity, look) =>
      (looks?.[entity.slot].has(look) ?? true) ? view.formOf(this.drawingOf(entity)) : null,
    );
  }

  /** A figure as drawn, whatever its colour; kept. */
  drawingOf(entity: Entity): Drawing {
    const { slot, type, size, angle } = entity;
    const key = ((slot * TYPES.length + type) * SIZES.length + size) * ANGLES.length + angle;
    const known = this.#drawings.get(key);
    if (known !== undefined) return known;
    const drawing = drawingOf(this.#layout, this.#index, entity, this.#options.truncated);
    this.#drawings.set(key, drawing);
    return drawing;
  }

  gains(ink: Float32Array, forms: Forms): Gains {
    const shades = this.#shades;
    return forms.map((forms) => {
      const gains = new Float64Array(forms.length * shades.length);
      forms.forEach((form, i) => {
        const at = i * shades.length;
        if (form === null) gains.fill(-Infinity, at, at + shades.length);
        else form.gains(ink, shades, gains, at);
      });
      return gains;
    });
  }

  /** The looks in each slot that explain most, one by one or together if they are alike. */
  likely(bySlot: Gains): ReadonlySet<number>[] {
    const colors = this.#colors.length;
    const looks = this.#looks.map((_, i) => i);
    const best = bySlot.map((gains) =>
      looks.map((look) => Math.max(...gains.subarray(look * colors, (look + 1) * colors))),
    );
    const together = this.#isUniform
      ? looks.map((look) => totalGain(best.map((gains) => gains[look])))
      : [];
    return best.map(
      (gains) =>
        new Set([...indicesOfLargest(together, LIKELY), ...indicesOfLargest(gains, LIKELY)]),
    );
  }

  /** The figures that explain most squared ink; there is always one. */
  find(bySlot: Gains, unlike: boolean): Found<ComponentPanel> {
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

/** What pictures of one section show of a layout's figures, and of the line between its components. */
interface SectionForms {
  readonly section: Section;
  readonly components: readonly Forms[];
  readonly line: FigureForm | null;
}

const BLACK = Float64Array.of(0);

export class FigureFinder {
  readonly #components: readonly ComponentFinder[];
  readonly #line: Drawing | null;

  constructor(
    readonly layout: ConfigurationLayout,
    readonly options: FinderOptions,
  ) {
    this.#components = layout.components.map((_, i) => new ComponentFinder(layout, i, options));
    this.#line = lineDrawingOf(layout);
  }

  /**
   * Reads a panel; `ink` is what `inkOf` gives for the same side. Figures may be `unlike` each other even if the
   * layout has them all alike, as in some candidates.
   */
  read(ink: Float32Array, unlike = false): ReadFigures {
    const gains = this.#components.map((component) => component.gains(ink, component.plain));
    return this.#best(ink, gains, this.#lineGain(ink), unlike);
  }

  /** What pictures of 64x64 of a section show; exact, but it takes longer to make. */
  formsIn(section: Section): SectionForms {
    const view = new SectionView(section);
    const components = this.#components.map((component) => component.formsIn(view));
    return { section, components, line: this.#lineIn(view) };
  }

  /** Reads a picture of nearly that section: its own is found first, by what it seems to show. */
  readNear(ink: Float32Array, forms: SectionForms, unlike = false): ReadFigures {
    const gains = this.#components.map((component, c) => component.gains(ink, forms.components[c]));
    const read = this.#best(ink, gains, gainOfLine(ink, forms.line), unlike);
    const view = new SectionView(sectionNear(this.figuresIn(ink, read), forms.section));
    const again = this.#components.map((component, c) =>
      component.gains(ink, component.formsIn(view, component.likely(gains[c]))),
    );
    return this.#best(ink, again, gainOfLine(ink, this.#lineIn(view)), unlike);
  }

  /** The panel of the figures that explain most; `line` is what the line between two components explains. */
  #best(ink: Float32Array, gains: readonly Gains[], line: number, unlike: boolean): ReadFigures {
    const found = this.#components.map((component, c) => component.find(gains[c], unlike));
    const gain = found.reduce((sum, each) => sum + each.gain, line);
    const all = product(ink, ink);
    return {
      panel: { components: found.map((each) => each.found) },
      explained: all === 0 ? 0 : gain / all,
      ink: all,
    };
  }

  /** Figures that were read in a picture, and the line between two components. */
  figuresIn(ink: Float32Array, { panel }: ReadFigures): SeenFigure[] {
    const seen = panel.components.flatMap(({ entities }, c) =>
      entities.map((entity) => ({
        ink,
        drawing: this.#components[c].drawingOf(entity),
        shade: COLORS[entity.color] / 255,
      })),
    );
    return this.#line === null ? seen : [...seen, { ink, drawing: this.#line, shade: 0 }];
  }

  #lineIn(view: SectionView): FigureForm | null {
    return this.#line === null ? null : view.formOf(this.#line);
  }

  /** What the line between two components explains, if there is one. */
  #lineGain(ink: Float32Array): number {
    const { structure } = this.layout;
    if (structure !== 'Left_Right' && structure !== 'Up_Down') return 0;
    const { side } = this.options;
    const share = (STRUCTURE_LINE_WIDTH * side) / IMAGE_SIZE;
    let sum = 0;
    for (let i = 0; i < side; i++) {
      const at = structure === 'Left_Right' ? i * side + side / 2 : (side / 2) * side + i;
      sum += share * (2 * ink[at] - share);
    }
    return sum;
  }
}

function gainOfLine(ink: Float32Array, line: FigureForm | null): number {
  const gain = new Float64Array(1);
  line?.gains(ink, BLACK, gain, 0);
  return gain[0];
}
