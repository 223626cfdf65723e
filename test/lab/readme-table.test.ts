/** README's table of accuracy is that of docs/results.md, which the command writes. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

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
