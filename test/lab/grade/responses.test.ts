import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeText, parseCsv } from '../../../src/lab/grade/csv.js';
import { parseResponses } from '../../../src/lab/grade/responses.js';
import { csvLine } from '../../../src/matrix/index.js';

const LONG = 'respondent,item,choice\nann,center-00001,3\nbob,center-00001,\n';

describe('tables', () => {
  test('what is written as CSV is read back, with the line of each row', () => {
    const field = fc.string({ unit: fc.constantFrom('a', ' ', ',', ';', '"', '\n', 'é', '5') });
    const rows = fc.array(fc.array(field, { minLength: 3, maxLength: 3 }), { minLength: 1 });
    fc.assert(
      fc.property(rows, fc.boolean(), (table, bom) => {
        const head = ['one', 'two', 'three'];
        const lines = [head, ...table].map((row) => csvLine(row));
        const read = parseCsv(`${bom ? '\uFEFF' : ''}${lines.join('\r\n')}`, 'file');
        const kept = table.map((row) => row.map((each) => each.trim()));
        expect(read.map(({ fields }) => fields)).toEqual([
          head,
          ...kept.filter((row) => row.some((each) => each !== '')),
        ]);
        let line = 1;
        const starts = lines.map(
          (text) => (line += text.split('\n').length) - text.split('\n').length,
        );
        const used = starts.filter((_, i) => i === 0 || kept[i - 1].some((each) => each !== ''));
        expect(read.map((row) => row.line)).toEqual(used);
      }),
    );
  });

  test.each([
    ['a;b;c\n1;2,5;3', ['1', '2,5', '3']],
    ['a\tb\tc\n1\t2\t3', ['1', '2', '3']],
    ['"a;x",b,c\n1,2,3', ['1', '2', '3']],
  ])('the separator is found: %j', (text, fields) => {
    expect(parseCsv(text, 'file')[1].fields).toEqual(fields);
  });

  test.each([
    ['a,b\n1,"2\n3\n', /^file, line 2: a quote is opened and never closed$/],
    ['a,b\n\n1,"2"x\n', /^file, line 3: a quoted field goes on after its closing quote with "x"$/],
    ['a,b\n1,2"3\n', /^file, line 2: a quote in the middle of the field 2"3$/],
    ['a\0b', /^file is not a text file$/],
  ])('%j is refused', (text, message) => {
    expect(() => parseCsv(text, 'file')).toThrow(message);
  });

  test('text of Excel in its three encodings', () => {
    expect(decodeText(new TextEncoder().encode('Zoë'))).toBe('Zoë');
    expect(decodeText(Uint8Array.of(0x5a, 0x6f, 0xeb))).toBe('Zoë');
    expect(
      decodeText(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Zoë', 'utf16le')])),
    ).toBe('Zoë');
  });
});

describe('responses', () => {
  test('long: columns in any order, others ignored', () => {
    const text =
      'time;Choice;Question;Participant\n12;c;center-00002;"Ann, B."\n9;8;center-00001;bob';
    expect(parseResponses(text, 'r.csv')).toEqual([
      { respondent: 'Ann, B.', item: 'center-00002', choice: 3, line: 2 },
      { respondent: 'bob', item: 'center-00001', choice: 8, line: 3 },
    ]);
  });

  test('wide: a column for each item', () => {
    const text = 'respondent,center-00001,center-00002\r\nann,1,H\r\nbob,NA,-\r\n';
    expect(parseResponses(text, 'r.csv').map(({ item, choice }) => [item, choice])).toEqual([
      ['center-00001', 1],
      ['center-00002', 8],
      ['center-00001', null],
      ['center-00002', null],
    ]);
  });

  test.each([
    ['', /^r\.csv is empty: the first line must name the columns/],
    ['respondent,item,choice\n', /no responses$/],
    ['ann,center-00001,3\nbob,center-00001,4', /^r\.csv, line 1: the first line must name/],
    [LONG.replace(',3', ',9'), /^r\.csv, line 2: the choice "9" is neither 1 to 8 nor A to H/],
    [LONG.replace('ann', ''), /^r\.csv, line 2: the respondent is empty$/],
    [
      LONG.replace('bob', 'ann'),
      /^r\.csv, line 3: ann has answered center-00001 already in line 2$/,
    ],
    [LONG.replace(',3', ''), /^r\.csv, line 2: 2 fields where the first line has 3$/],
    ['item,choice,age\na,1,3\n', /^r\.csv, line 1: no column is called respondent/],
    [
      'respondent,a,age\nann,1,33',
      /^r\.csv, line 2, column age: the choice "33" .*; all columns after the first must be items, so leave others out$/,
    ],
    ['respondent,a,,\nann,1,,2', /^r\.csv, line 2: 4 fields where the first line has 2$/],
    ['respondent,a,a\nann,1,2', /ann has answered a already in line 2$/],
  ])('%j is refused', (text, message) => {
    expect(() => parseResponses(text, 'r.csv')).toThrow(message);
  });

  test('empty columns at the end, whole numbers as 2.0 and NaN', () => {
    const text = 'respondent;a;b;;\nann;2.0;NaN;;\nbob;8.0;null;;\n';
    expect(parseResponses(text, 'r.csv').map(({ item, choice }) => [item, choice])).toEqual([
      ['a', 2],
      ['b', null],
      ['a', 8],
      ['b', null],
    ]);
  });

  test('tables of several people one after the other, each with its first line', () => {
    const header = 'respondent,item,choice\r\n';
    const text = `\uFEFF${header}ann,a,1\r\n\uFEFF${header}bob,a,2\r\n`;
    expect(parseResponses(text, 'r.csv').map(({ respondent, line }) => [respondent, line])).toEqual(
      [
        ['ann', 2],
        ['bob', 4],
      ],
    );
    expect(() => parseResponses(header + header, 'r.csv')).toThrow(/no responses$/);
  });

  test('the examples of docs/items.md', () => {
    const doc = readFileSync(new URL('../../../docs/items.md', import.meta.url), 'utf8');
    const tables = [...doc.matchAll(/^```\n(respondent[^]*?)^```$/gm)].map(([, table]) => table);
    expect(
      tables.map((table) => parseResponses(table, 'r.csv').map(({ choice }) => choice)),
    ).toEqual([
      [3, null],
      [3, null, 3, 7],
    ]);
  });

  test('nothing but an error sentence comes of arbitrary text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        try {
          parseResponses(text, 'r.csv');
        } catch (error) {
          expect((error as Error).name).toBe('FormatError');
        }
      }),
    );
  });
});
