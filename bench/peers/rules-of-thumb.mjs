/**
 * How far candidates can be told apart without solving a problem: accuracy of simple rules that score each
 * candidate by itself, on RAVEN's and I-RAVEN's candidates of the same fresh problems.
 *
 *     node bench/peers/rules-of-thumb.mjs [--count 4000] [--seed 5]
 *
 * Reads the built package (dist). Among equal scores one is drawn, so each counts its share. Prints a
 * Markdown table, percent, RAVEN / I-RAVEN.
 */
import { parseArgs } from 'node:util';
import { CONFIGURATIONS, problemPanels, sampleProblem } from '../../dist/matrix/index.js';

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '4000' }, seed: { type: 'string', default: '5' } },
});

const ATTRIBUTES = ['type', 'size', 'color'];

/** A panel by its attributes: of each component type, size, color (null if its figures differ), and places. */
const attributesOf = ({ components }) =>
  components.flatMap(({ entities }) => [
    ...ATTRIBUTES.map((name) => {
      const values = new Set(entities.map((entity) => entity[name]));
      return values.size === 1 ? [...values][0] : null;
    }),
    entities.map(({ slot }) => 1 << slot).reduce((sum, bit) => sum + bit),
  ]);

const total = (values, of) => values.reduce((sum, value, at) => sum + of(value, at), 0);

/** Scores of a candidate's attributes, given those of the context. */
const RULES = {
  'lightest and smallest': (own) => -total(own, (value, at) => [0.7, 0.9, 1, 0][at % 4] * value),
  'figures alike': (own) => -total(own, (value) => (value === null ? 1 : 0)),
  'values that occur in the context': (own, context) =>
    total(own, (value, at) => (context.some((panel) => panel[at] === value) ? 1 : 0)),
};

/** Share of problems that a rule answers rightly. */
function accuracy(rule, configuration, variant) {
  const count = Number(options.count);
  let right = 0;
  for (let index = 0; index < count; index++) {
    const problem = sampleProblem({ configuration, variant, seed: Number(options.seed), index });
    const panels = problemPanels(problem).map(attributesOf);
    const scores = panels.slice(8).map((own) => rule(own, panels.slice(0, 8)));
    const most = Math.max(...scores);
    if (scores[problem.target] === most) right += 1 / scores.filter((s) => s === most).length;
  }
  return ((100 * right) / count).toFixed(1);
}

console.log(`| | ${CONFIGURATIONS.join(' | ')} |\n|---|${'---|'.repeat(CONFIGURATIONS.length)}`);
for (const [name, rule] of Object.entries(RULES)) {
  const cells = CONFIGURATIONS.map((configuration) =>
    ['raven', 'i-raven'].map((variant) => accuracy(rule, configuration, variant)).join(' / '),
  );
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
