/** docs/rules.md: its examples work, and every key and name that the parser knows stands in it. */
import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import {
  ALL_LAYOUTS,
  CONFIGURATIONS,
  findLayout,
  parseConstraints,
  sampleProblem,
} from '../../src/matrix/index.js';
import { Given } from '../../src/base/index.js';

const text = readFileSync(new URL('../../docs/rules.md', import.meta.url), 'utf8');
const examples = [...text.matchAll(/```json (\S+)( noisy)?\n([^`]+)```/g)].map(
  ([, configuration, noisy, json]) => ({ configuration, noisy: noisy !== undefined, json }),
);

afterEach(() => {
  vi.restoreAllMocks();
});

test.each(examples)(
  'the example for $configuration works: $json',
  ({ configuration, noisy, json }) => {
    const layout = findLayout(configuration, noisy);
    const constraints = parseConstraints(JSON.parse(json), layout);
    for (let index = 0; index < 5; index++) {
      sampleProblem({ ...layout, seed: 1, index, constraints });
    }
  },
);

test('every key the parser asks for is named', () => {
  const asked = vi.spyOn(Given.prototype, 'members');
  for (const { configuration, noisy, json } of examples) {
    parseConstraints(JSON.parse(json), findLayout(configuration, noisy));
  }
  const keys = new Set(asked.mock.calls.flatMap(([known]) => known));
  // The examples reach all objects of a file: the parts, rules, starts, and a rule with its value.
  expect([...keys]).toEqual(expect.arrayContaining(['distractors', 'color', 'angle', 'value']));
  for (const key of keys) expect(text, key).toContain(`\`${key}\``);
});

test('every configuration and component is named', () => {
  for (const configuration of CONFIGURATIONS) expect(text).toContain(`\`${configuration}\``);
  const components = ALL_LAYOUTS.flatMap((layout) => layout.components.map(({ name }) => name));
  for (const name of new Set(components)) expect(text, name).toContain(`\`${name}\``);
});

test('the help and the README tell of it', () => {
  const at = (file: string): string =>
    readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  expect(at('README.md')).toContain('(docs/rules.md)');
  expect(at('src/cli/generate.ts')).toContain('docs/rules.md');
});
