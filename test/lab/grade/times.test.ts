/** Response times: medians for each item and each person where a column tells them, and nothing where none does. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { grade } from '../../../src/lab/grade/grade.js';
import { parseResponses } from '../../../src/lab/grade/responses.js';
import { gradePage } from '../../../src/lab/index.js';
import { findLayout } from '../../../src/matrix/index.js';
import { generate } from '../../../src/matrix/node.js';
import { crabInProcess } from '../../cli/crab-in-process.js';
import { scratchFolder } from '../../scratch-folder.js';

const folder = scratchFolder();
const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  await generate({
    layouts: [findLayout('center')],
    variant: 'i-raven',
    count: 2,
    seed: 1,
    format: 'pdf',
    out: at('items.pdf'),
    answers: at('key.csv'),
    workers: 1,
  });
  writeFileSync(
    at('timed.csv'),
    `respondent;item;choice;order;seconds
Ann;center-00000;1;1;2.500
Ann;center-00001;2;2;10
Bob;center-00000;3;1;4,5
Bob;center-00001;;2;NA
Cleo;center-00000;;1;30
`,
  );
  writeFileSync(at('untimed.csv'), 'respondent,item,choice\nAnn,center-00000,1\n');
});

test('are medians of what is told, with items that were left out', async () => {
  const { result } = await grade({ responses: at('timed.csv'), items: at('key.csv') });
  const timesOf = (list: readonly { medianSeconds: number | null }[]) =>
    list.map(({ medianSeconds }) => medianSeconds);
  expect(timesOf(result.respondents)).toEqual([6.25, 4.5, 30]);
  expect(timesOf(result.items)).toEqual([4.5, 10]);
});

test('stand in the tables of the terminal and of the page, and in neither without times', async () => {
  const told = (file: string) =>
    crabInProcess('grade', at(file), '--items', at('key.csv'), '--quiet');
  const pageOf = async (file: string) =>
    gradePage(await grade({ responses: at(file), items: at('key.csv') }));
  const text = await told('timed.csv');
  expect(text).toMatch(/^respondent .*median time$/m);
  expect(text).toMatch(/^Ann .* 6\.3 s$/m);
  expect(text).toMatch(/^center-00001 .* 10\.0 s /m);
  const page = await pageOf('timed.csv');
  expect(page.match(/>median time</g)).toHaveLength(2);
  expect(page).toContain('>30.0 s<');
  expect(await told('untimed.csv')).not.toContain('median time');
  expect((await pageOf('untimed.csv')).toLowerCase()).not.toContain('median time');
});

test.each(['0:12', '-1', 'Infinity', 'fast'])('“%s” is refused by line', (seconds) => {
  expect(() =>
    parseResponses(`respondent,item,choice,seconds\nAnn,a,1,${seconds}\n`, 'r.csv'),
  ).toThrow(`r.csv, line 2: seconds is "${seconds}", not a number of seconds`);
});
