// Share of imagined panels that obey the rules after second thoughts (`paint: 'careful'`), on the problems
// of `crab evaluate --metrics readback`: panel 9, and a panel anywhere. Puts it into docs/measured and results:
//   node bench/careful-panels.mjs zoo/grid-3x3 ... [--problems 1000] [--seed N] [--dry]
// For models whose other figures of that metric were measured before there were second thoughts.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openBundleSubject, updateResults } from '../dist/lab/index.js';
import { drawPanels } from '../dist/lab/metrics/generated-source.js';
import { ReadbackJudge } from '../dist/lab/metrics/readback-judge.js';
import { Bootstrap } from '../dist/lab/statistics.js';
import { layoutOf, matrixPanels, Random, sampleProblem } from '../dist/matrix/index.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    problems: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '7700000021' },
    dry: { type: 'boolean' },
  },
});
const count = Number(values.problems);
const seed = Number(values.seed);
const SLICE = 32;

for (const folder of positionals) {
  const subject = await openBundleSubject(folder);
  const { configuration, noisy, imageSize } = subject.facts;
  const layout = layoutOf(configuration, noisy);
  const judge = new ReadbackJudge(layout);
  const obeyed = { last: [], anywhere: [] };
  for (let from = 0; from < count; from += SLICE) {
    const problems = Array.from({ length: Math.min(SLICE, count - from) }, (_, i) =>
      sampleProblem({ configuration, noisy, seed, index: from + i }),
    );
    const { panels } = await subject.see(
      drawPanels(layout, problems.flatMap(matrixPanels), imageSize),
    );
    const somewhere = (n) => new Random(seed, from + n, 1).subset(9, 1)[0] + 1;
    for (const [where, at] of [
      ['last', () => 9],
      ['anywhere', somewhere],
    ]) {
      const asked = problems.map((_, n) => ({
        panels: panels.slice(n * 9, (n + 1) * 9),
        missing: [at(n)],
      }));
      const drawn = await subject.imagine(asked, { paint: 'careful' });
      problems.forEach((problem, n) =>
        obeyed[where].push(Number(judge.obeys(problem, asked[n].missing, drawn[n]))),
      );
    }
  }
  await subject.dispose();
  const bootstrap = new Bootstrap(count);
  const [last, anywhere] = [bootstrap.share(obeyed.last), bootstrap.share(obeyed.anywhere)];
  console.log(`${folder}: panel 9 ${JSON.stringify(last)}, anywhere ${JSON.stringify(anywhere)}`);
  if (values.dry) continue;
  const file = path.join('docs', 'measured', `${path.basename(folder)}.json`);
  const kept = JSON.parse(await readFile(file, 'utf8'));
  kept.readback.carefulObeys = last;
  kept.readback.missing.find(({ targets }) => targets === 1).carefulObeys = anywhere;
  await writeFile(file, `${JSON.stringify(kept, null, 1)}\n`);
}
if (!values.dry) await updateResults('docs');
