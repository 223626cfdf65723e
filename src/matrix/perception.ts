/**
 * Questions about what a matrix shows, without any reasoning: how many figures, which shape, which is
 * larger or darker. A model that fails these does not see the picture that it is asked to reason about.
 */
import { TYPES } from './attributes.js';
import { layoutOfProblem, type ConfigurationLayout } from './layouts.js';
import type { ComponentPanel, Entity, Problem } from './problem.js';
import { Random } from './random.js';
import { LETTERS } from './vlm-item.js';

export interface PerceptionQuestion {
  readonly kind: 'number' | 'shape' | 'size' | 'color';
  readonly question: string;
  readonly options: Readonly<Record<string, string>>;
  readonly answer: string;
}

const PERCEPTION_STREAM = 0x40000002;
const NUMBER_OPTIONS = 4;

const PARTS: Readonly<Record<string, string>> = {
  Left: 'in the left half of ',
  Right: 'in the right half of ',
  Up: 'in the upper half of ',
  Down: 'in the lower half of ',
  Out: 'on the outside of ',
  In: 'on the inside of ',
  Grid: 'in ',
};

/** "in the left half of the panel in row 1, column 2" */
function placeOf(layout: ConfigurationLayout, component: number, cell: number): string {
  return `${PARTS[layout.components[component].name]}the panel in row ${Math.floor(cell / 3) + 1}, column ${(cell % 3) + 1}`;
}

const lettered = (texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(texts.map((text, i) => [LETTERS[i], text]));

/** The one value that all figures share, or undefined. */
function shared(panel: ComponentPanel, of: (entity: Entity) => number): number | undefined {
  const value = of(panel.entities[0]);
  return panel.entities.every((entity) => of(entity) === value) ? value : undefined;
}

function numberQuestion(
  place: string,
  count: number,
  most: number,
  random: Random,
): PerceptionQuestion {
  const size = Math.min(NUMBER_OPTIONS, most);
  // Numbers that follow each other, the right one anywhere among them.
  const first = random.between(Math.max(1, count - size + 1), Math.min(count, most - size + 1));
  return {
    kind: 'number',
    question: `How many figures are there ${place}?`,
    options: lettered(Array.from({ length: size }, (_, i) => String(first + i))),
    answer: LETTERS[count - first],
  };
}

const shapeQuestion = (place: string, type: number, several: boolean): PerceptionQuestion => ({
  kind: 'shape',
  question: `Which shape ${several ? 'do the figures' : 'does the figure'} ${place} have?`,
  options: lettered(TYPES.slice(1, TYPES.indexOf('circle') + 1)),
  answer: LETTERS[type - 1],
});

function comparison(
  kind: 'size' | 'color',
  places: readonly [string, string],
  values: readonly [number, number],
): PerceptionQuestion {
  const word = kind === 'size' ? 'larger' : 'darker';
  const right = values[0] === values[1] ? 2 : values[0] > values[1] ? 0 : 1;
  return {
    kind,
    question: `Which is ${word}: what is ${places[0]}, or what is ${places[1]}?`,
    options: lettered(['the first', 'the second', 'neither, they are equal']),
    answer: LETTERS[right],
  };
}

/** One question of each kind that has a clear answer, about random panels of the matrix. */
export function perceptionQuestions(
  problem: Problem,
  seed: number,
  index: number,
): PerceptionQuestion[] {
  const layout = layoutOfProblem(problem);
  const random = new Random(seed, index, PERCEPTION_STREAM);
  const questions: PerceptionQuestion[] = [];
  const figures = layout.components.flatMap(({ name }, i) => (name in PARTS ? [i] : []));
  const component = random.pick(figures);
  const cell = random.below(problem.context.length);
  const panel = problem.context[cell].components[component];
  const place = placeOf(layout, component, cell);
  const slots = layout.components[component].slots.length;
  if (slots > 1) questions.push(numberQuestion(place, panel.entities.length, slots, random));
  const type = shared(panel, (entity) => entity.type);
  if (type !== undefined) questions.push(shapeQuestion(place, type, panel.entities.length > 1));
  for (const kind of ['size', 'color'] as const) {
    const [a, b] = random.subset(problem.context.length, 2);
    const values = [a, b].map((i) =>
      shared(problem.context[i].components[component], (entity) => entity[kind]),
    );
    if (values[0] === undefined || values[1] === undefined) continue;
    questions.push(
      comparison(
        kind,
        [placeOf(layout, component, a), placeOf(layout, component, b)],
        [values[0], values[1]],
      ),
    );
  }
  return questions;
}
