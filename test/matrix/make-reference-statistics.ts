/**
 * Writes reference-statistics.json: how often each value of each quantity of observe.ts occurs in the
 * reference sets, 400 problems for each layout and variant. Needs the reference sets; takes about a
 * minute (npx tsx test/matrix/make-reference-statistics.ts).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_LAYOUTS, PAPER_VARIANTS } from '../../src/matrix/index.js';
import { addObservations, observe, type Tallies } from './observe.js';
import { Recogniser } from './recognise.js';
import { recognisedProblems } from './reference-sets.js';

const statistics: Record<string, Tallies> = {};
for (const layout of ALL_LAYOUTS) {
  const recogniser = new Recogniser(layout);
  for (const variant of PAPER_VARIANTS) {
    const tallies: Tallies = {};
    let index = 0;
    for (const problem of recognisedProblems(layout, variant, recogniser)) {
      addObservations(tallies, observe(problem, index++));
    }
    statistics[`${variant} ${layout.folder}`] = tallies;
  }
}
const target = join(import.meta.dirname, 'reference-statistics.json');
writeFileSync(target, `${JSON.stringify(statistics, null, 1)}\n`);
