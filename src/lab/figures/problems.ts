/**
 * Figures of problems alone, without a model: an instance of each configuration, and what RAVEN's noise
 * leaves open.
 */
import {
  answerOf,
  IMAGE_PIXELS,
  layoutOf,
  matrixPanels,
  paperName,
  Random,
  renderPanel,
  ruleKind,
  rulesHold,
  type ComponentLayout,
  type ComponentPanel,
  type Entity,
  type Panel as DescribedPanel,
  type Problem,
} from '../../matrix/index.js';
import { bytesToPanel, type Panel } from '../../solver/index.js';
import {
  below,
  beside,
  figure,
  inRows,
  matrixDrawing,
  panelDrawing,
  SMALL_PRINT,
  text,
  type Drawing,
  type Figure,
} from './drawing.js';
import { colour } from './theme.js';

const CELL = 62;
const GAP = 26;
const LINE = 15;

/** A described panel as a picture. */
function pictureOf({ configuration, noisy }: Problem, panel: DescribedPanel): Panel {
  return bytesToPanel(renderPanel(layoutOf(configuration, noisy), panel));
}

/** A title with lines of text below. */
function words(title: string, lines: readonly string[], width: number): Drawing {
  const body = lines.map((line, i) => text(0, 11 + (i + 1) * LINE, line, SMALL_PRINT));
  const heading = text(0, 11, title, { bold: true });
  return { width, height: LINE * (lines.length + 1), body: heading + body.join('') };
}

/** A matrix of each problem with its answer framed, under the name the paper has for its configuration. */
export function configurationsFigure(problems: readonly Problem[]): Figure {
  const drawings = problems.map((problem) => {
    const panels = matrixPanels(problem).map((panel) => pictureOf(problem, panel));
    const matrix = matrixDrawing(panels, { cell: CELL, framed: [9], stroke: colour('accent') });
    const name = words(paperName(problem.configuration), [problem.configuration], matrix.width);
    return below([name, matrix], 6);
  });
  const label = `A matrix of each of ${drawings.length} configurations, the answer framed`;
  return figure(label, inRows(drawings, 4, GAP));
}

/** The question mark in place of the answer. */
function questioned(problem: Problem): Drawing {
  const white = new Float32Array(IMAGE_PIXELS).fill(1);
  const panels = [...problem.context.map((panel) => pictureOf(problem, panel)), white];
  const matrix = matrixDrawing(panels, { cell: CELL });
  const middle = matrix.width - CELL / 2;
  const mark = text(middle, middle + 11, '?', {
    size: 30,
    anchor: 'middle',
    fill: colour('muted'),
  });
  return { ...matrix, body: matrix.body + mark };
}

type EntityKey = Exclude<keyof Entity, 'slot'>;
const LOOKS: readonly EntityKey[] = ['type', 'size', 'color', 'angle'];

/** The same component with other places, or with another look of each entity in one attribute. */
function redrawn(
  random: Random,
  layout: ComponentLayout,
  panel: ComponentPanel,
  key: EntityKey | 'slot',
): ComponentPanel {
  if (key === 'slot') {
    const slots = random.subset(layout.slots.length, panel.entities.length);
    const entities = panel.entities.map((entity, i) => ({ ...entity, slot: slots[i] }));
    return { ...panel, entities };
  }
  const { min, max } = layout[key];
  const entities = panel.entities.map((entity) => ({ ...entity, [key]: random.between(min, max) }));
  return { ...panel, entities };
}

/** The same for panels that look the same, whatever the order of their entities. */
const lookOf = ({ components }: DescribedPanel): string =>
  JSON.stringify(
    components.map(({ entities }) => [...entities].sort((a, b) => a.slot - b.slot)),
    ['slot', ...LOOKS],
  );

/**
 * Other panels that complete a matrix so that all its rules hold: the answer with whatever can be drawn
 * anew without breaking a rule. There are none if the rules decide everything.
 */
export function otherAnswers(problem: Problem, count: number, seed: number): DescribedPanel[] {
  const layout = layoutOf(problem.configuration, problem.noisy);
  const found = new Map([[lookOf(answerOf(problem)), answerOf(problem)]]);
  const random = new Random(seed);
  for (let attempt = 0; attempt < 100 * count && found.size <= count; attempt++) {
    let panel = answerOf(problem);
    for (const component of layout.components.keys()) {
      for (const key of ['slot', ...LOOKS] as const) {
        const components = panel.components.map((each, i) =>
          i === component ? redrawn(random, layout.components[i], each, key) : each,
        );
        const holds = rulesHold(layout, problem.rules, [...problem.context, { components }]);
        if (holds) panel = { components };
      }
    }
    found.set(lookOf(panel), panel);
  }
  return [...found.values()].slice(1);
}

const NOISE_NAMES = {
  slot: 'position',
  type: 'type',
  size: 'size',
  color: 'color',
  angle: 'rotation',
};

/** In which attributes right answers differ. */
function noiseOf(problem: Problem, others: readonly DescribedPanel[]): string[] {
  const valuesOf = (panel: DescribedPanel, key: keyof Entity): string =>
    panel.components.map(({ entities }) => entities.map((entity) => entity[key])).join(';');
  return (['slot', ...LOOKS] as const)
    .filter((key) =>
      others.some((other) => valuesOf(other, key) !== valuesOf(answerOf(problem), key)),
    )
    .map((key) => NOISE_NAMES[key]);
}

/** What the matrix obeys, one rule a line, and what is drawn anew in every panel. */
function rulesAndNoise(
  problem: Problem,
  others: readonly DescribedPanel[],
  width: number,
): Drawing {
  const noise = noiseOf(problem, others);
  const layout = layoutOf(problem.configuration, problem.noisy);
  const rules = problem.rules.flatMap((each, component) =>
    each
      .filter(({ attribute }) => !noise.includes(attribute.toLowerCase()))
      .map((rule) => {
        const part = problem.rules.length > 1 ? `${layout.components[component].name} ` : '';
        return `${part}${rule.attribute}: ${ruleKind(rule)}`;
      }),
  );
  return below([words('Rules', rules, width), words('Noise', [noise.join(', ')], width)], 8);
}

/** Left a noisy problem with its rules; right its candidates, and panels that are right as well. */
export function noiseFigure(problem: Problem, others: readonly DescribedPanel[]): Figure {
  const matrix = questioned(problem);
  const rules = rulesAndNoise(problem, others, matrix.width);
  const grid = (panels: readonly DescribedPanel[], right: (i: number) => boolean): Drawing =>
    inRows(
      panels.map((panel, i) =>
        panelDrawing(
          pictureOf(problem, panel),
          CELL,
          right(i) ? { stroke: colour('accent'), strokeWidth: 3 } : {},
        ),
      ),
      4,
      9,
    );
  const candidates = grid(
    problem.candidates.map(({ panel }) => panel),
    (i) => i === problem.target,
  );
  const also = grid(others, () => true);
  const right = below(
    [
      words('(a) its candidates', ['one right answer, framed, and seven distractors'], also.width),
      candidates,
      words('(b) other right answers', ['they obey all rules and differ in the noise'], also.width),
      also,
    ],
    10,
  );
  const whole = beside([below([matrix, rules], 16), right], GAP + 6);
  const label = `A problem with noise, its eight candidates, and ${others.length} other panels that obey its rules`;
  return figure(label, whole);
}
