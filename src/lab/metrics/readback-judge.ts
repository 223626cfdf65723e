/**
 * Reads an imagined picture back as attributes (`PanelReader`) and says whether it is right: by the problem's
 * rules, by what the symbolic solver infers from the eight context panels without being told the rules, and
 * attribute by attribute by the answer. An unreadable picture obeys nothing. Rotation has no rule and is not
 * judged.
 */
import {
  answerOf,
  attributeColumns,
  downscale,
  greyByte,
  IMAGE_PIXELS,
  IMAGE_SIZE,
  LEVEL_KEYS,
  matrixPanels,
  PanelReader,
  rulesHold,
  SMALL_PIXELS,
  solveSymbolically,
  type AttributeColumn,
  type ComponentPanel,
  type ConfigurationLayout,
  type Panel,
  type Problem,
  type ReadPanel,
} from '../../matrix/index.js';
import { bytesToPanel, type Panel as Picture } from '../../solver/index.js';

/** Pictures that are drawn alike give several readings of a matrix; more are not tried. */
const MOST_READINGS = 64;

/** Entities in the order of the answer's, which tells the solver which one moved where. */
function ordered(read: ComponentPanel, answer: ComponentPanel): ComponentPanel {
  const place = (slot: number): number => {
    const found = answer.entities.findIndex((entity) => entity.slot === slot);
    return found < 0 ? answer.entities.length : found;
  };
  const entities = [...read.entities].sort((a, b) => place(a.slot) - place(b.slot));
  return { uniformity: answer.uniformity, entities };
}

/** Every panel that a reading may mean; none if it is unreadable. */
function possiblePanels(read: ReadPanel, answer: Panel): Panel[] {
  if (!read.readable) return [];
  return read.components.reduce<Panel[]>(
    (panels, { descriptions }, component) =>
      panels.flatMap((panel) =>
        descriptions.map((description) => ({
          components: [...panel.components, ordered(description, answer.components[component])],
        })),
      ),
    [{ components: [] }],
  );
}

/** What a judge says of one picture. */
export interface Verdict {
  readonly obeys: boolean;
  readonly agrees: boolean;
  readonly readable: boolean;
  /** For each attribute, whether it is the answer's. */
  readonly attributes: readonly boolean[];
}

const slotsOf = ({ entities }: ComponentPanel): string =>
  entities
    .map(({ slot }) => slot)
    .sort((a, b) => a - b)
    .join(' ');

/** Whether an attribute of a panel is that of another. */
function sameAttribute({ component, group }: AttributeColumn, a: Panel, b: Panel): boolean {
  const [own, other] = [a.components[component], b.components[component]];
  if (group === 'Num/Pos') return slotsOf(own) === slotsOf(other);
  if (group === 'Rotation') return true;
  const levels = ({ entities }: ComponentPanel): string =>
    [...new Set(entities.map((entity) => entity[LEVEL_KEYS[group]]))].sort().join(' ');
  return levels(own) === levels(other);
}

/** A drawn panel at 64x64, as it is read: pictures of 80x80 are doubled first. */
function atSmallSize(picture: Picture): Picture {
  if (picture.length === SMALL_PIXELS) return picture;
  const side = Math.sqrt(picture.length);
  const factor = IMAGE_SIZE / side;
  const large = Uint8Array.from({ length: IMAGE_PIXELS }, (_, pixel) => {
    const row = Math.floor(Math.floor(pixel / IMAGE_SIZE) / factor);
    const column = Math.floor((pixel % IMAGE_SIZE) / factor);
    return greyByte(picture[row * side + column]);
  });
  const small = new Uint8Array(SMALL_PIXELS);
  downscale(large, small);
  return bytesToPanel(small);
}

export class ReadbackJudge {
  readonly #layout: ConfigurationLayout;
  readonly #reader: PanelReader;
  readonly attributes: readonly AttributeColumn[];

  constructor(layout: ConfigurationLayout) {
    this.#layout = layout;
    this.#reader = new PanelReader(layout);
    this.attributes = attributeColumns(layout);
  }

  /** Every panel that a picture, 64 or 80 pixels a side, may show. */
  #read(picture: Picture, answer: Panel): Panel[] {
    return possiblePanels(this.#reader.read(atSmallSize(picture)), answer);
  }

  /** Whether a matrix with imagined panels at some positions (1..9) obeys its problem's rules. */
  obeys(problem: Problem, missing: readonly number[], pictures: readonly Picture[]): boolean {
    const whole = [...matrixPanels(problem)];
    const readings = missing.map((position, i) => this.#read(pictures[i], whole[position - 1]));
    const completed = readings.reduce<Panel[][]>(
      (matrices, panels, i) =>
        matrices
          .flatMap((matrix) =>
            panels.map((panel) => matrix.map((old, at) => (at === missing[i] - 1 ? panel : old))),
          )
          .slice(0, MOST_READINGS),
      [whole],
    );
    return completed.some((panels) => rulesHold(this.#layout, problem.rules, panels));
  }

  judge(problem: Problem, picture: Picture): Verdict {
    const answer = answerOf(problem);
    const panels = this.#read(picture, answer);
    const obeys = panels.some((panel) =>
      rulesHold(this.#layout, problem.rules, [...problem.context, panel]),
    );
    const candidates = panels.map((panel) => ({ panel, changes: [] }));
    return {
      obeys,
      agrees: solveSymbolically({ ...problem, candidates }).length > 0,
      readable: panels.length > 0,
      attributes: this.attributes.map((attribute) =>
        panels.some((panel) => sameAttribute(attribute, panel, answer)),
      ),
    };
  }
}
