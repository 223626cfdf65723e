import { expect, test } from 'vitest';
import { countHashed, countSlashed } from '../../scripts/count-lines.mjs';

test.each<[string, string, number]>([
  ['blank lines and comments', '// a\n\n/* b\n c */\nconst x = 1; // d\n', 1],
  ['code before and after a comment', 'f(); /* a\n b */ g();\n', 2],
  ['marks in strings', "const a = '/*';\nconst b = 2;\nconst c = '*/ //';\n", 3],
  ['lines of a template', 'const a = `\n// text\n\n`;\n', 4],
  ['a quote in a regular expression', "const a = /['/]/;\n// gone\nconst b = 1;\n", 2],
  ['division', 'const a = b / c; // gone\nconst d = e / f;\n', 2],
  ['an apostrophe in the text of a page', "<p>it's</p>\n{/* gone */}\n<b>x</b>\n", 3],
])('%s', (_, text, lines) => {
  expect(countSlashed(text)).toBe(lines);
});

test('Python', () => {
  expect(countHashed('"""What it is.\n\nMore.\n"""\n# a\nx = 1\n\n  # b\ny = "#"\n')).toBe(2);
});
