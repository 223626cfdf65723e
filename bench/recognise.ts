/**
 * How often the configuration of fresh problems is found from their pictures, and how long that takes.
 *
 *     npx tsx bench/recognise.ts [--count 500] [--seed 20261117] [--as panels,sheets] [--config all]
 *         [--json FILE]
 *
 * Panels are those the models see; sheets are PNG pictures of whole problems, read as a person's own. The
 * bar is 99% of each configuration and form. Times are of the processor, for all given panels of a problem.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  CONFIGURATIONS,
  contactSheet,
  decodePng,
  encodePng,
  findConfiguration,
  panelsOf,
  sampleProblem,
  type Problem,
} from '../src/matrix/index.js';
import { readMatrixPicture } from '../src/solver/node.js';

const BAR = 0.99;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '500' },
    seed: { type: 'string', default: '20261117' },
    as: { type: 'string', default: 'panels,sheets' },
    config: { type: 'string', default: 'all' },
    json: { type: 'string' },
  },
});
const [count, seed] = [Number(values.count), Number(values.seed)];

const wanted = CONFIGURATIONS.filter(
  (name) => values.config === 'all' || values.config.split(',').includes(name),
);

const FORMS: Readonly<Record<string, (problem: Problem) => Float32Array[]>> = {
  panels: (problem) => {
    const { panels } = panelsOf(problem);
    return panels
      .filter((panel) => panel !== null)
      .map((panel) => Float32Array.from(panel, (byte) => byte / 255));
  },
  sheets: (problem) => {
    const sheet = decodePng(encodePng(contactSheet(problem, { markAnswer: false })));
    return readMatrixPicture(sheet).panels.filter((panel) => panel !== null);
  },
};

const milliseconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const rows = values.as.split(',').flatMap((form) =>
  wanted.map((configuration) => {
    let [right, refused, least, spent] = [0, 0, 1, 0];
    for (let index = 0; index < count; index++) {
      const panels = FORMS[form](sampleProblem({ configuration, seed, index }));
      const start = milliseconds();
      const found = findConfiguration(panels);
      spent += milliseconds() - start;
      const { configuration: name, noisy } = found?.layout ?? { configuration: null, noisy: false };
      right += Number(name === configuration && !noisy);
      refused += Number(found === null);
      least = Math.min(least, found?.explained ?? 0);
    }
    const row = { form, configuration, count, right, refused, least, ms: spent / count };
    console.log(
      `| ${form} | ${configuration} | ${right} of ${count} | ${refused} | ${least.toFixed(3)} | ${row.ms.toFixed(0)} ms |`,
    );
    return row;
  }),
);
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ seed, rows }));
process.exit(rows.every(({ right }) => right >= BAR * count) ? 0 : 1);
