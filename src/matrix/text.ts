/**
 * Problems as text for language models, in the form of lm-raven (Hu and others) and of I-RAVEN-X: a figure
 * is `(type,size/10,color*10)`, a panel one figure, a list of slots, or `A … / B …` for two components; rows
 * follow each other as `row 1: p, p, p; row 2: …`. The same problem is also told attribute by attribute.
 */
import { shownRows, type NumericPanel, type NumericProblem } from './i-raven-x.js';
import { layoutOfProblem, type ComponentLayout, type ConfigurationLayout } from './layouts.js';
import {
  problemPanels,
  type ComponentPanel,
  type Entity,
  type Panel,
  type Problem,
} from './problem.js';
import { Random } from './random.js';
import { LETTERS } from './vlm-item.js';

/** A problem as texts: what is shown, and the eight candidates. */
export interface TextProblem {
  /** `row 1: p, p, p; row 2: p, p, p; row 3: p, p, ` with its last blank. */
  readonly context: string;
  readonly candidates: readonly string[];
  readonly target: number;
}

/** A problem told as a whole and attribute by attribute; keys such as `type`, or `A type` of two components. */
export interface TextForms {
  readonly whole: TextProblem;
  readonly separate: Readonly<Record<string, TextProblem>>;
}

/** Rows of panels as a text; the last row is short of one. */
export const contextText = (rows: readonly (readonly string[])[]): string =>
  rows
    .map((row, i) => `row ${i + 1}: ${row.map((panel) => `${panel}, `).join('')}`)
    .join('; ')
    .replaceAll(', ; ', '; ');

type PanelText = (panel: Panel) => string;

/** As the published texts have figures: types count from 3 (corners), sizes from 1. */
const figureNumbers = ({
  type,
  size,
  color,
}: Entity): [type: number, size: number, color: number] => [type + 2, size + 1, color];

/** A tenth, as Python prints it: a whole number keeps its ".0". */
const tenth = (value: number): string => (value / 10).toFixed(1);

function entityText(entity: Entity, withAngle: boolean): string {
  const [type, size, color] = figureNumbers(entity);
  const angle = withAngle ? `,${entity.angle * 100}` : '';
  return `(${type},${tenth(size)},${color * 10}${angle})`;
}

function slotList(
  { slots }: ComponentLayout,
  { entities }: ComponentPanel,
  show: (entity: Entity | undefined) => string,
): string {
  const inSlot = new Map(entities.map((entity) => [entity.slot, entity]));
  return `[${slots.map((_, slot) => show(inSlot.get(slot))).join(', ')}]`;
}

function componentText(layout: ComponentLayout, panel: ComponentPanel, withAngle: boolean): string {
  if (layout.slots.length === 1) return entityText(panel.entities[0], withAngle);
  return slotList(layout, panel, (entity) => (entity ? entityText(entity, withAngle) : '-'));
}

/** A panel as a text. */
export function panelText(layout: ConfigurationLayout, panel: Panel, withAngle = false): string {
  const parts = layout.components.map((component, i) =>
    componentText(component, panel.components[i], withAngle),
  );
  if (parts.length === 1) return parts[0];
  return parts.map((part, i) => `${LETTERS[i]} ${part}`).join(' / ');
}

/** The values of one attribute in a component: one number, or the different ones of a grid. */
function valuesText(
  { slots }: ComponentLayout,
  { entities }: ComponentPanel,
  number: (entity: Entity) => number,
  show: (value: number) => string,
): string {
  if (slots.length === 1) return show(number(entities[0]));
  const different = [...new Set(entities.map(number))].sort((a, b) => a - b);
  return `[${different.map(show).join(', ')}]`;
}

/** How each attribute of a component is told. */
function attributeTexts(
  layout: ComponentLayout,
): Record<string, (panel: ComponentPanel) => string> {
  const values = (which: 0 | 1 | 2, show: (value: number) => string) => (panel: ComponentPanel) =>
    valuesText(layout, panel, (entity) => figureNumbers(entity)[which], show);
  const own = {
    type: values(0, String),
    size: values(1, tenth),
    color: values(2, (value) => String(value * 10)),
  };
  if (layout.slots.length === 1) return own;
  return {
    layout: (panel) => slotList(layout, panel, (entity) => (entity ? '1' : '0')),
    number: ({ entities }) => String(entities.length),
    ...own,
  };
}

const ROW = 3;

/** A problem of figures as text; `rows`: how many of its rows, the last ones, are shown. */
export function textOfProblem(
  problem: Problem,
  { rows = 3, withAngle = false }: { rows?: 1 | 2 | 3; withAngle?: boolean } = {},
): TextForms {
  const layout = layoutOfProblem(problem);
  const textWith = (show: PanelText): TextProblem => {
    const panels = problem.context.map(show);
    const all = [panels.slice(0, ROW), panels.slice(ROW, 2 * ROW), panels.slice(2 * ROW)];
    const candidates = problem.candidates.map(({ panel }) => show(panel));
    // A single row has no number.
    const context = contextText(all.slice(3 - rows));
    return {
      context: rows === 1 ? context.replace('row 1: ', '') : context,
      candidates,
      target: problem.target,
    };
  };
  const separate = layout.components.flatMap((component, c) =>
    Object.entries(attributeTexts(component)).map(([name, show]) => [
      layout.components.length > 1 ? `${LETTERS[c]} ${name}` : name,
      textWith((panel) => show(panel.components[c])),
    ]),
  );
  return {
    whole: textWith((panel) => panelText(layout, panel, withAngle)),
    separate: Object.fromEntries(separate) as Record<string, TextProblem>,
  };
}

export interface NumericTextOptions {
  /** Least probability of the true value; each number is then told with its neighbours. Absent: certain. */
  readonly certainty?: number;
  /** Of the random numbers of uncertainty. */
  readonly seed?: number;
  readonly index?: number;
}

/** Apart from the stream that problems are drawn from. */
const NOISE_STREAM = (1 << 28) + 1;
const hundredths = (value: number): number => Math.round(value * 100);

/** `<p::x-1,p::x,p::x+1>`: a number with probabilities of itself and its neighbours, which go round. */
function uncertainText(random: Random, value: number, values: number, certainty: number): string {
  const own = hundredths(certainty + (1 - certainty) * random.uniform());
  const one = hundredths(((100 - own) / 100) * random.uniform());
  const [left, right] = random.coin() ? [one, 100 - own - one] : [100 - own - one, one];
  const neighbour = (step: number): number => (value + step + values) % values;
  const told = (share: number, x: number): string => `${(share / 100).toFixed(2)}::${x}`;
  return `<${told(left, neighbour(-1))},${told(own, value)},${told(right, neighbour(1))}>`;
}

/** A problem of I-RAVEN-X as text. Uncertain numbers are told as they are, certain ones scaled. */
export function textOfNumericProblem(
  problem: NumericProblem,
  { certainty, seed = 0, index = 0 }: NumericTextOptions = {},
): TextForms {
  const random = new Random(seed, index, NOISE_STREAM);
  const told = (value: number, scaled: string): string =>
    certainty === undefined ? scaled : uncertainText(random, value, problem.values, certainty);
  const textWith = (show: (panel: NumericPanel) => string): TextProblem => ({
    context: contextText(shownRows(problem).map((row) => row.map(show))),
    candidates: problem.candidates.map(show),
    target: problem.target,
  });
  const type = ({ Type }: NumericPanel): string => told(Type, String(Type));
  const size = ({ Size }: NumericPanel): string => told(Size, tenth(Size));
  const color = ({ Color }: NumericPanel): string => told(Color, String(Color * 10));
  const whole = (panel: NumericPanel): string =>
    `(${[type(panel), size(panel), color(panel), ...panel.confounders.map((x) => told(x, String(x)))].join(',')})`;
  return {
    whole: textWith(whole),
    separate: { type: textWith(type), size: textWith(size), color: textWith(color) },
  };
}

/** What is sent to a model: instructions, and the problem. */
export interface Prompt {
  readonly system: string;
  readonly user: string;
}

/** Asks for the missing panel itself; `examples` are solved problems told before it. */
export function predictPrompt(problem: TextProblem, examples: readonly TextProblem[] = []): Prompt {
  const solved = examples.map(
    ({ context, candidates, target }, i) => `Example ${i + 1}: ${context}${candidates[target]};\n`,
  );
  return {
    system: "Complete the Raven's progressive matrix.",
    user: `Give only the numbers that are missing.\n${solved.join('')}${problem.context}`,
  };
}

/** Asks for the number of a candidate. */
export function choosePrompt({ context, candidates }: TextProblem): Prompt {
  const offered = candidates.map((candidate, i) => `Answer #${i}: ${candidate}`);
  return {
    system:
      "Complete the Raven's progressive matrix with one of the answers. Finish with: My answer is: Answer #N.",
    user: [context, 'Answer set:', ...offered].join('\n'),
  };
}

/** A problem of figures in the JSON that lm-raven and I-RAVEN-X read: levels as strings. */
export function problemTextJson(problem: Problem) {
  const layout = layoutOfProblem(problem);
  const entityJson = ({ type, size, color, angle }: Entity) => ({
    Type: String(type),
    Size: String(size),
    Color: String(color),
    Angle: String(angle),
  });
  const panelJson = ({ components }: Panel) =>
    components.map(({ entities }, c) => {
      const { slots } = layout.components[c];
      if (slots.length === 1) return entityJson(entities[0]);
      const positions = entities.map(({ slot }) => {
        const { row, column, width, height } = slots[slot];
        return [row, column, width, height];
      });
      return { positions, entities: entities.map(entityJson) };
    });
  return {
    rules: problem.rules.map((rules) =>
      Object.fromEntries(rules.map(({ attribute, name }) => [attribute, name])),
    ),
    rpm: problemPanels(problem).map(panelJson),
    target: String(problem.target),
  };
}
