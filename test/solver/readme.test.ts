/** README's first example of solving, run as it stands, against what was built and a published bundle. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../project.js';

/** Code blocks of README that use the solver. */
const examples = [
  ...readFileSync(path.join(ROOT, 'README.md'), 'utf8').matchAll(/```(?:ts|js)\n(.*?)```/gs),
]
  .map(([, code]) => code)
  .filter((code) => code.includes('Solver.load'));

const example = examples.at(0) ?? '';
const bundle = /Solver\.load\('([^']+)'\)/.exec(example)?.[1];
const isBuilt = existsSync(path.join(ROOT, 'dist/solver/node.js'));
const isPublished = bundle !== undefined && existsSync(path.join(ROOT, 'zoo', bundle));

test.skipIf(!isBuilt || !isPublished)("README's first example chooses a candidate", () => {
  const statements = example
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s*(\/\/|import )/.test(line));
  expect(statements.length).toBeLessThanOrEqual(5);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', example],
    { cwd: ROOT, encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout).toMatch(/candidate [1-8]/);
});
