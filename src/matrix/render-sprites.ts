/**
 * Entities drawn once and kept. A sprite holds the pixels of one entity at both image sizes, as runs
 * of words of four pixels where there is any ink, so that a panel is put together by copying words.
 * The store is filled as sprites are asked for and bounded in bytes; the oldest go first.
 */
import { COLORS, SIZES, TYPES, ANGLES } from './attributes.js';
import { ArgumentError } from '../base/index.js';
import type { ComponentLayout } from './layouts.js';
import type { Entity } from './problem.js';
import { figureOf, fillInk } from './render-entity.js';
import { colourForm, FormMaker, type Form, type Sprite } from './render-forms.js';

/** Rough cost of the objects of a sprite or form beside what their arrays hold. */
const OVERHEAD = 400;

/** Lines are no sprites: a mesh is drawn over them. */
const LINE = TYPES.indexOf('line');

const FORMS_PER_SLOT = TYPES.length * SIZES.length * ANGLES.length;
const SPRITES_PER_SLOT = FORMS_PER_SLOT * COLORS.length;

/** Levels of one slot's forms in one number: type, size, angle. */
const formIndex = (entity: Entity): number =>
  (entity.type * SIZES.length + entity.size) * ANGLES.length + entity.angle;

/** Levels of one slot's sprites in one number. */
const spriteIndex = (entity: Entity): number => formIndex(entity) * COLORS.length + entity.color;

/** Whether a level is an index of a table; unsigned shifting leaves only whole numbers as they are. */
const inTable = (level: number, table: readonly unknown[]): boolean =>
  level >>> 0 === level && level < table.length;

function assertDrawable(layout: ComponentLayout, entity: Entity): void {
  const drawable =
    inTable(entity.slot, layout.slots) &&
    inTable(entity.type, TYPES) &&
    entity.type > 0 &&
    entity.type < LINE &&
    inTable(entity.size, SIZES) &&
    inTable(entity.color, COLORS) &&
    inTable(entity.angle, ANGLES);
  if (drawable) return;
  throw new ArgumentError(
    `cannot draw entity ${JSON.stringify(entity)} in ${layout.layout}: ` +
      `slot 0..${layout.slots.length - 1}, type 1..5, size 0..5, color 0..9 and angle 0..7 exist`,
  );
}

const bytesOfSprite = ({ words, support }: Sprite): number =>
  OVERHEAD + words.byteLength + support.byteLength;

const bytesOfForm = ({ black, inside, mixed, smallMixed }: Form): number =>
  bytesOfSprite(black) + inside.byteLength + mixed.byteLength + smallMixed.byteLength;

/** What is kept of one slot, by levels. */
interface SlotTables {
  readonly sprites: (Sprite | undefined)[];
  readonly forms: (Form | undefined)[];
}

/** Where something kept is. */
interface Kept {
  readonly table: (Sprite | undefined)[] | (Form | undefined)[];
  readonly index: number;
  readonly bytes: number;
}

/** Sprites by slot and levels, within a number of bytes. */
export class SpriteStore {
  readonly #limit: number;
  readonly #maker = new FormMaker();
  /** Slots of the same place and size share their sprites whatever the configuration. */
  readonly #bySlot = new Map<string, SlotTables>();
  readonly #byLayout = new WeakMap<ComponentLayout, readonly SlotTables[]>();
  /** Oldest first from `#oldest` on. */
  #kept: Kept[] = [];
  #oldest = 0;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that the kept sprites and forms take. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Puts the sprites of a component's entities, in order, drawn now or before, into a list from
   * `start` on. Returns where they end.
   */
  collect(
    layout: ComponentLayout,
    entities: readonly Entity[],
    sprites: Sprite[],
    start: number,
  ): number {
    const slots = this.#byLayout.get(layout) ?? this.#addLayout(layout);
    for (let i = 0; i < entities.length; i++) {
      const entity = entities[i];
      assertDrawable(layout, entity);
      const tables = slots[entity.slot];
      const known = tables.sprites[spriteIndex(entity)];
      sprites[start + i] = known ?? this.#addSprite(layout, entity, tables);
    }
    return start + entities.length;
  }

  #addLayout(layout: ComponentLayout): readonly SlotTables[] {
    const tables = layout.slots.map((slot) => {
      const key = `${slot.row} ${slot.column} ${slot.width} ${slot.height}`;
      const known = this.#bySlot.get(key);
      if (known) return known;
      const added = {
        sprites: new Array<undefined>(SPRITES_PER_SLOT).fill(undefined),
        forms: new Array<undefined>(FORMS_PER_SLOT).fill(undefined),
      };
      this.#bySlot.set(key, added);
      return added;
    });
    this.#byLayout.set(layout, tables);
    return tables;
  }

  #addSprite(layout: ComponentLayout, entity: Entity, tables: SlotTables): Sprite {
    const ink = fillInk(entity.color);
    const sprite =
      ink === 0
        ? this.#maker.outline(figureOf(layout, entity))
        : colourForm(this.#form(layout, entity, tables), ink);
    const index = spriteIndex(entity);
    tables.sprites[index] = sprite;
    // The support of a coloured sprite is its form's; counting it twice keeps this simple.
    this.#keep({ table: tables.sprites, index, bytes: bytesOfSprite(sprite) });
    return sprite;
  }

  #form(layout: ComponentLayout, entity: Entity, tables: SlotTables): Form {
    const index = formIndex(entity);
    const known = tables.forms[index];
    if (known) return known;
    const form = this.#maker.form(figureOf(layout, entity));
    tables.forms[index] = form;
    this.#keep({ table: tables.forms, index, bytes: bytesOfForm(form) });
    return form;
  }

  #keep(kept: Kept): void {
    this.#kept.push(kept);
    this.#bytes += kept.bytes;
    while (this.#bytes > this.#limit) this.#dropOldest();
  }

  #dropOldest(): void {
    const { table, index, bytes } = this.#kept[this.#oldest];
    table[index] = undefined;
    this.#bytes -= bytes;
    this.#oldest += 1;
    if (this.#oldest * 2 > this.#kept.length) {
      this.#kept = this.#kept.slice(this.#oldest);
      this.#oldest = 0;
    }
  }
}
