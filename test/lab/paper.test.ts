/** The tables of the paper are copied into the code: here they are compared with its source. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  HUMAN_NOTE,
  PAPER_ACCURACY,
  PAPER_ARI,
  paperRows,
  paperShare,
} from '../../src/lab/paper.js';
import { zooPage } from '../../src/lab/report/zoo-page.js';
import { CONFIGURATIONS, HUMAN_ACCURACY, RAVEN_ORDER } from '../../src/matrix/index.js';

const SOURCE = new URL('../../../shared/paper/crab.tex', import.meta.url);

/** Rows of a table of the paper, cells without LaTeX; bold between stars. */
function rowsOf(label: string): string[][] {
  const text = readFileSync(SOURCE, 'utf8');
  const start = text.indexOf(`\\label{${label}}`);
  const body = text.slice(start, text.indexOf('\\end{tabular}', start));
  return body
    .split('\n')
    .filter((line) => line.includes('&'))
    .map((line) =>
      line.split('&').map((cell) =>
        cell
          .replaceAll(/\\textbf\{([^}]*)\}/g, '*$1*')
          .replaceAll(/\\textit\{([^}]*)\}/g, '$1')
          .replaceAll(/\\(?:footnotemark|cite\{[^}]*\}|,|\\)/g, '')
          .replaceAll('$\\times$', 'x')
          .replaceAll(/\s/g, ''),
      ),
    );
}

describe.skipIf(!existsSync(SOURCE))("the paper's tables", () => {
  test('selection accuracy', () => {
    const printed = rowsOf('tab:sa-bottom-right').filter(([name]) => !name.endsWith('Solvers'));
    expect(PAPER_ACCURACY.map(({ name, aux, cells }) => [name, aux, ...cells])).toEqual(printed);
    expect(PAPER_ACCURACY).toHaveLength(28);
  });

  test('adjusted Rand index', () => {
    const printed = rowsOf('tab:ari-attribute').slice(1);
    const value = (cell: string): number | null =>
      cell === '-' ? null : Number(cell.replaceAll('*', ''));
    expect(
      PAPER_ARI.map(({ name, average, type, size, color, numPos }) => [
        name,
        average,
        type,
        size,
        color,
        numPos,
      ]),
    ).toEqual(printed.map(([name, ...cells]) => [name, ...cells.map(value)]));
  });
});

test('the averages of the rows agree with their cells, within the half point that the paper allows itself', () => {
  for (const { cells } of PAPER_ACCURACY) {
    const [average, ...values] = cells.map((cell) =>
      cell
        .replaceAll('*', '')
        .split('/')
        .map((part) => (part === '--' ? null : Number(part))),
    );
    average.forEach((expected, i) => {
      const column = values.map((parts) => parts[i]).filter((value) => value !== null);
      const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
      if (expected !== null) expect(Math.abs(mean - expected)).toBeLessThan(0.5);
    });
  }
});

test("the row of people is RAVEN's, in the order of RAVEN's columns, and the page says so", () => {
  const [, ...printed] = PAPER_ACCURACY.find(({ name }) => name === 'Human')?.cells ?? [];
  const inOrder = (order: readonly (keyof typeof HUMAN_ACCURACY)[]): string[] =>
    order.map((name) => (Math.round(10 * HUMAN_ACCURACY[name]) / 10).toFixed(1));
  expect(printed).toEqual(inOrder(RAVEN_ORDER));
  expect(printed).not.toEqual(inOrder(CONFIGURATIONS));
  expect([...RAVEN_ORDER].sort()).toEqual([...CONFIGURATIONS].sort());
  expect(HUMAN_NOTE).toContain('L-R 86.36');
  expect(zooPage([])).toContain('L-R 86.36');
});

test('every system of the paper has its rows', () => {
  const found = (system: string): string[] => paperRows(system).map(({ name }) => name);
  expect(found('resnet')).toEqual(['ResNet-50']);
  expect(found('resnet-drt')).toEqual(['ResNet+DRT']);
  expect(found('clap-np')).toEqual(['CLAP-NP']);
  expect(found('prae')).toEqual(['PrAE', 'PrAE']);
  expect(found('gca')).toEqual(['GCA-I', 'GCA-R', 'GCA-C', 'GCA-I', 'GCA-R', 'GCA-C']);
  expect(found('nothing')).toEqual([]);
  const [scl] = paperRows('scl');
  expect(paperShare(scl, 'average', 'i-raven')).toBeCloseTo(0.857, 12);
  expect(paperShare(scl, 'grid-3x3', 'raven')).toBeCloseTo(0.77, 12);
  expect(paperShare(paperRows('loge')[0], 'center', 'raven')).toBeNull();
});
