/**
 * Writes golden-problems.json, the hashes of the first problems of each layout and variant. To be run
 * (npx tsx test/matrix/make-golden-problems.ts) only when the problems of a seed are meant to change.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_LAYOUTS, problemToJson, sampleProblem, VARIANTS } from '../../src/matrix/index.js';

const seed = 1234;
const count = 50;
const sha256: Record<string, string> = {};
for (const { configuration, noisy, folder } of ALL_LAYOUTS) {
  for (const variant of VARIANTS) {
    const hash = createHash('sha256');
    for (let index = 0; index < count; index++) {
      const problem = sampleProblem({ configuration, noisy, variant, seed, index });
      // As the test does: without what later versions tell of rules.
      const text = JSON.stringify(problemToJson(problem), (key, value: unknown) =>
        key === 'direction' || key === 'index' ? undefined : value,
      );
      hash.update(text);
    }
    sha256[`${variant} ${folder}`] = hash.digest('hex');
  }
}
const target = join(import.meta.dirname, 'golden-problems.json');
writeFileSync(target, `${JSON.stringify({ seed, count, sha256 }, null, 2)}\n`);
