/** README's table of accuracy is that of docs/results.md, which the command writes; times are those of the models. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CONFIGURATIONS } from '../../src/matrix/index.js';
import { ON_A_GPU } from '../../src/studio/views/train/expectations.js';

const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n');

function cells(file: string, name: string): string[] {
  const row = lines(file).find((line) => line.startsWith(`| ${name} |`));
  return (row ?? '')
    .replaceAll('*', '')
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
}

test.each([
  ['these models', 'ours, own distance'],
  ['the same by plain L2', 'ours, plain L2'],
  ['the paper (plain L2)', 'the paper'],
])('%s', (inReadme, inResults) => {
  const measured = cells('docs/results.md', inResults);
  expect(measured).toHaveLength(8);
  expect(cells('README.md', inReadme)).toEqual(measured);
});

test('README and the page tell how long the published models trained', () => {
  const minutes = CONFIGURATIONS.map((name) => {
    const manifest = JSON.parse(readFileSync(`docs/measured/${name}.json`, 'utf8')) as {
      readonly training: { readonly seconds: number };
    };
    return Math.round(manifest.training.seconds / 60);
  });
  const words = `${Math.min(...minutes)} to ${Math.max(...minutes)} minutes`;
  expect(readFileSync('README.md', 'utf8')).toContain(`trained in ${words} on one GPU`);
  expect(ON_A_GPU).toContain(words);
});
