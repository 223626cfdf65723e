/**
 * Reads a problem of a set back: from its pictures, pixel for pixel, and its label to the description
 * that RAVEN's XML holds. Pictures do not show everything. What follows from the rest of the problem is
 * worked out: figures that keep their Size and Angle along a row share them, a rule on Size must hold,
 * and a wrong candidate differs from the answer in as little as its picture allows. What is still open
 * makes no difference to any picture of 64x64, and is chosen:
 *
 * - the Angle of figures that look the same turned: upright if possible;
 * - the Size of small squares of levels 2 and 3 in an inner grid, which are drawn alike: the smaller;
 * - the order of entities: that of their slots;
 * - Uniformity: 3 if the entities of every panel are alike, else 0, which means the same as 1 and 2;
 * - a changed Position of a candidate whose Number is changed too: only Number is told;
 * - a rule that no label tells, if several hold: Constant, else on Position before one on Number, else the
 *   first in the data sets' order.
 */
import type { LevelRange } from './attributes.js';
import { readComponentRows, likelyAngle } from './component-reader.js';
import { FormatError } from '../base/index.js';
import { ALL_LAYOUTS, type ConfigurationLayout } from './layouts.js';
import { layoutName } from './item.js';
import { PanelReader, type SeenEntity, type SeenPanel } from './panel-reader.js';
import {
  CANDIDATES,
  CONTEXT_PANELS,
  MATRIX_PANELS,
  type AttributeChange,
  type Candidate,
  type ComponentPanel,
  type ComponentRules,
  type Entity,
  type Panel,
  type Problem,
  type Variant,
} from './problem.js';
import { changesFrom } from './raven-rules.js';
import { SMALL_PIXELS } from './render.js';
import { VALUE_ATTRIBUTES, VALUE_KEYS } from './rules.js';
import { MATRIX_PIXELS, SELECTION_PIXELS, type SetBatch } from './set.js';
import type { Label } from './set-label.js';
import { panelKey, validateProblem } from './validation.js';

/** The level to believe of those a picture leaves open: the first that is also expected. */
const believed = (
  open: readonly number[],
  expected: readonly number[],
  otherwise: number,
): number => expected.find((level) => open.includes(level)) ?? otherwise;

/** Entities of a candidate in the order of the answer's that they were, as far as it can be told. */
function inOrderOf(answer: readonly Entity[], seen: readonly SeenEntity[]): SeenEntity[] {
  if (seen.length !== answer.length) return [...seen];
  const bySlot = answer.flatMap(({ slot }) => seen.filter((other) => other.slot === slot));
  if (bySlot.length === seen.length) return bySlot;
  const likeness = (entity: Entity, other: SeenEntity): number =>
    Number(other.type === entity.type) +
    Number(other.color === entity.color) +
    Number(other.sizes.includes(entity.size)) +
    Number(other.angles.includes(entity.angle));
  const ordered = new Map<Entity, SeenEntity>();
  const left = new Set(seen);
  // Moved entities are found by their looks, the most alike first.
  for (let wanted = 4; wanted >= 0; wanted--) {
    for (const entity of answer.filter((each) => !ordered.has(each))) {
      const found = [...left].find((other) => likeness(entity, other) === wanted);
      if (found && left.delete(found)) ordered.set(entity, found);
    }
  }
  return answer.flatMap((entity) => ordered.get(entity) ?? []);
}

/** Sizes that candidates show without doubt: the one a distractor was given may be among them. */
const certainSizes = (candidates: readonly (readonly SeenEntity[])[]): number[] => [
  ...new Set(
    candidates.flatMap((seen) =>
      seen.flatMap(({ sizes }) => (sizes.length === 1 ? [sizes[0]] : [])),
    ),
  ),
];

function candidateComponent(
  answer: ComponentPanel,
  seen: readonly SeenEntity[],
  otherSizes: readonly number[],
): ComponentPanel {
  const sameNumber = seen.length === answer.entities.length;
  const answerSizes = answer.entities.map(({ size }) => size);
  const answerAngles = answer.entities.map(({ angle }) => angle);
  const entities = inOrderOf(answer.entities, seen).map((entity, i): Entity => {
    const { slot, type, color, sizes, angles } = entity;
    const ownSizes = sameNumber ? [answerSizes[i]] : answerSizes;
    const ownAngles = sameNumber ? [answerAngles[i]] : answerAngles;
    return {
      slot,
      type,
      size: believed(sizes, [...ownSizes, ...otherSizes], sizes[0]),
      color,
      angle: believed(angles, ownAngles, likelyAngle(angles)),
    };
  });
  return { uniformity: answer.uniformity, entities };
}

/** The same picture with another Size, for a candidate that would otherwise be another one's twin. */
function withOtherSizes(panel: Panel, seen: SeenPanel): Panel {
  return {
    components: panel.components.map(({ uniformity, entities }, component) => ({
      uniformity,
      entities: entities.map((entity) => {
        const open = seen[component].find(({ slot }) => slot === entity.slot)?.sizes ?? [];
        return { ...entity, size: open.find((size) => size !== entity.size) ?? entity.size };
      }),
    })),
  };
}

/** The eight candidates; those drawn alike differ in a Size that is drawn alike. */
function candidatePanels(answer: Panel, seen: readonly SeenPanel[], target: number): Panel[] {
  const taken = new Set([panelKey(answer)]);
  return seen.map((one, index) => {
    if (index === target) return answer;
    const components = answer.components.map((component, c) =>
      candidateComponent(component, one[c], certainSizes(seen.map((other) => other[c]))),
    );
    const plain: Panel = { components };
    const panel = taken.has(panelKey(plain)) ? withOtherSizes(plain, one) : plain;
    if (taken.has(panelKey(panel))) {
      throw new FormatError(`its candidate ${index + 1} is the same as another`);
    }
    taken.add(panelKey(panel));
    return panel;
  });
}

/** I-RAVEN keeps entities if it changes their number, so that their attributes can be compared. */
function changesBesideNumber(answer: Panel, panel: Panel): AttributeChange[] {
  return changesFrom(answer, panel).flatMap((change) => {
    if (change.attribute !== 'Number') return [change];
    const { component } = change;
    const [before, after] = [answer, panel].map(({ components }) => components[component].entities);
    const others = VALUE_ATTRIBUTES.filter((attribute) => {
      const key = VALUE_KEYS[attribute];
      return after.some((entity) => before.every((own) => own[key] !== entity[key]));
    });
    return [...others.map((attribute) => ({ component, attribute })), change];
  });
}

/** A picture that a layout does not draw; `read` tells how many before it were read. */
class UnknownPicture extends FormatError {
  constructor(
    what: string,
    layout: string,
    readonly read: number,
  ) {
    super(`its ${what} is not drawn as ${layout} is, pixel for pixel`);
  }
}

/** Whether the last component of every problem keeps all but Number and Position, as a mesh does. */
const mayBeMesh = (labels: readonly Label[]): boolean =>
  labels.every(
    (label) =>
      label.length > 1 &&
      label[label.length - 1].every(
        ({ name, attribute }) => name === 'Constant' || /Number|Position/.test(attribute),
      ),
  );

/** Why pictures of no configuration cannot be read. */
const unknownPictures = ({ label }: SetBatch): FormatError =>
  new FormatError(
    mayBeMesh(label)
      ? 'it seems to have a mesh, and its lines and the figures hide each other; crab generate --mesh --format raven writes the description of every panel too'
      : 'its panel 1 is not drawn as that of any configuration is, pixel for pixel',
  );

/** Where a problem stands in a batch, and what to call it in errors. */
interface Place {
  readonly batch: SetBatch;
  readonly at: number;
}

class LayoutReader {
  readonly #reader: PanelReader;

  constructor(readonly layout: ConfigurationLayout) {
    this.#reader = new PanelReader(layout);
  }

  #see(pictures: Uint8Array, count: number, what: string, before: number): SeenPanel[] {
    return Array.from({ length: count }, (_, i) => {
      const seen = this.#reader.readExactly(
        pictures.subarray(i * SMALL_PIXELS, (i + 1) * SMALL_PIXELS),
      );
      if (seen) return seen;
      throw new UnknownPicture(`${what} ${i + 1}`, layoutName(this.layout), before + i);
    });
  }

  read({ batch, at }: Place, variant: Variant): Problem {
    const target = batch.answer[at];
    const matrix = batch.panel.subarray(at * MATRIX_PIXELS, (at + 1) * MATRIX_PIXELS);
    const offered = batch.selection.subarray(at * SELECTION_PIXELS, (at + 1) * SELECTION_PIXELS);
    const last = matrix.subarray(CONTEXT_PANELS * SMALL_PIXELS);
    if (last.some((value, i) => value !== offered[target * SMALL_PIXELS + i])) {
      throw new FormatError(`its panel 9 is not its candidate ${target + 1}, the answer`);
    }
    const panels = this.#see(matrix, MATRIX_PANELS, 'panel', 0);
    const candidates = this.#see(offered, CANDIDATES, 'candidate', MATRIX_PANELS);
    return this.#describe(panels, candidates, { batch, at }, variant);
  }

  #describe(
    panels: readonly SeenPanel[],
    seen: readonly SeenPanel[],
    { batch, at }: Place,
    variant: Variant,
  ): Problem {
    const { components, configuration, noisy } = this.layout;
    const label = batch.label[at];
    const target = batch.answer[at];
    const rows = components.map((layout, c) =>
      readComponentRows(
        layout,
        panels.map((panel) => panel[c]),
        label.at(c) ?? [],
      ),
    );
    const matrix = panels.map((_, i): Panel => ({
      components: rows.map((component) => component.panels[i]),
    }));
    const answer = matrix[CONTEXT_PANELS];
    const compare = variant === 'i-raven' ? changesBesideNumber : changesFrom;
    const candidates = candidatePanels(answer, seen, target).map((panel): Candidate => ({
      panel,
      changes: compare(answer, panel),
    }));
    const problem: Problem = {
      configuration,
      noisy,
      variant,
      context: matrix.slice(0, CONTEXT_PANELS),
      candidates,
      target,
      rules: rows.map(({ rules }): ComponentRules => rules),
    };
    validateProblem(problem);
    return problem;
  }
}

/** If a set does not tell: RAVEN changes one attribute for each wrong candidate, I-RAVEN several for some. */
const variantOf = (problems: readonly Problem[]): Variant =>
  problems.some(({ candidates }) => candidates.some(({ changes }) => changes.length > 1))
    ? 'i-raven'
    : 'raven';

/** Noise-free grids have few looks and a single figure fills most pixels. */
const CHEAPEST_FIRST = [...ALL_LAYOUTS].sort((a, b) => costOf(a) - costOf(b));

/** Pixels of all drawings of the first figure. */
function costOf({ components: [{ slots, angle, size, color }] }: ConfigurationLayout): number {
  const count = ({ min, max }: LevelRange): number => max - min + 1;
  return (count(angle) * count(size) * count(color)) / slots.length;
}

/** Problems of one set, which are all of one configuration and variant. */
export class ProblemReader {
  readonly #reader: LayoutReader;
  readonly #variant: Variant;

  private constructor(reader: LayoutReader, variant: Variant) {
    this.#reader = reader;
    this.#variant = variant;
  }

  /**
   * A reader for the set that these are the first problems of. FormatError, with the number of the
   * problem, if they are of no configuration.
   */
  static of(first: SetBatch): ProblemReader {
    const components = first.label.find((label) => label.length > 0)?.length;
    const pictures = MATRIX_PANELS + CANDIDATES;
    let best = { problem: 0, read: 0, fault: unknownPictures(first) };
    for (const layout of CHEAPEST_FIRST) {
      if (components !== undefined && components !== layout.components.length) continue;
      const reader = new LayoutReader(layout);
      const problems: Problem[] = [];
      try {
        for (let at = 0; at < first.count; at++) {
          problems.push(reader.read({ batch: first, at }, 'raven'));
        }
        return new ProblemReader(reader, first.variant ?? variantOf(problems));
      } catch (fault) {
        if (!(fault instanceof FormatError)) throw fault;
        // The layout that reads most is the likeliest.
        const own = fault instanceof UnknownPicture ? fault.read : pictures;
        const read = problems.length * pictures + own;
        if (read > best.read) best = { problem: problems.length, read, fault };
      }
    }
    throw numbered(best.problem, best.fault);
  }

  /** Reads all problems of a batch; `first` is the number of its first one. */
  read(batch: SetBatch, first: number): Problem[] {
    return Array.from({ length: batch.count }, (_, at) => {
      try {
        return this.#reader.read({ batch, at }, this.#variant);
      } catch (fault) {
        throw fault instanceof FormatError ? numbered(first + at, fault) : fault;
      }
    });
  }
}

/** Numbers count from 0, as the names of RAVEN's files do. */
const numbered = (problem: number, cause: FormatError): FormatError =>
  new FormatError(`problem ${problem} (counted from 0) cannot be read back: ${cause.message}`, {
    cause,
  });
