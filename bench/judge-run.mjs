// Selection accuracy of a run by the model itself (libtorch, any device) on many fresh problems:
//   node bench/judge-run.mjs RUN [--problems 5000] [--seed 20261] [--device cuda] [--which best] [--data SET.npz]...
// Reads the built package. SA by plain L2 on both variants, and GSA with 8 in-batch candidates; then SA
// on the problems of each set that is given.
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { openSet } from '../dist/matrix/node.js';
import { openRun } from '../dist/training/index.js';
import { makeValidationProblems } from '../dist/training/validation/problems.js';
import { Validator } from '../dist/training/validation/validator.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    problems: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '20261' },
    device: { type: 'string', default: 'cpu' },
    which: { type: 'string', default: 'best' },
    data: { type: 'string', multiple: true, default: [] },
  },
});

/** The problems of a set, with the candidates it has for both variants. */
async function problemsOf(file) {
  const set = await openSet(file);
  const { count, panel, selection, answer } = await set.read(0, set.count);
  await set.close();
  const candidates = { raven: selection, 'i-raven': selection };
  const answers = Int32Array.from(answer);
  return { source, count, panels: panel, candidates, answers, rules: [] };
}

const run = await openRun(positionals[0]);
const { configuration, noisy } = run.config.model;
const source = { configuration, noisy, seed: Number(values.seed) };
const problems = await makeValidationProblems(source, Number(values.problems));
const trained = await run.loadModel(values.which, values.device);
const validator = new Validator(problems, values.device);
const judgement = await validator.judge(trained.model);
console.log(
  JSON.stringify({
    configuration,
    noisy,
    step: trained.step,
    problems: problems.count,
    ...judgement,
  }),
);
for (const file of values.data) {
  const set = await problemsOf(file);
  const { selectionAccuracy } = await new Validator(set, values.device).judge(trained.model);
  console.log(
    JSON.stringify({
      set: basename(file),
      problems: set.count,
      selectionAccuracy: selectionAccuracy.raven,
    }),
  );
}
