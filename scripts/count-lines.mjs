// Counts lines of code, without blank lines and comments, in each folder of src, native and test.
//
//     node scripts/count-lines.mjs            the working tree
//     node scripts/count-lines.mjs main~10    any revision of git
//     node scripts/count-lines.mjs --json     as JSON
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const CODE = /\.(tsx?|mjs|cc|h|cu|py|css|html)$/;
const root = path.join(import.meta.dirname, '..');
const git = (...args) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });

/** Whether what stands before a slash lets it begin a regular expression and not a division. */
const startsRegex = (before) => /(^|[=(,:[!&|?{};>]|\breturn)\s*$/.test(before);

/** Lines of C-like code that hold anything but comments; strings and regular expressions may hold both marks. */
export function countSlashed(text) {
  const lines = new Set();
  let line = 0;
  for (let at = 0; at < text.length; at++) {
    const pair = text.slice(at, at + 2);
    if (text[at] === '\n') line++;
    else if (pair === '//') at = endOf(text, '\n', at) - 1;
    else if (pair === '/*') {
      const end = endOf(text, '*/', at + 2) + 1;
      line += breaksIn(text.slice(at, end));
      at = end;
    } else if (text[at].trim() !== '') {
      lines.add(line);
      const end = endOfLiteral(text, at);
      for (const char of text.slice(at, end)) if (char === '\n') lines.add(++line);
      at = end;
    }
  }
  return lines.size;
}

const breaksIn = (text) => text.split('\n').length - 1;

function endOf(text, mark, from) {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found;
}

/** Where the string or regular expression that begins here ends; `at` itself if none does. */
function endOfLiteral(text, at) {
  const quote = text[at];
  const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  const isRegex = quote === '/' && startsRegex(before);
  if (!isRegex && !`'"\``.includes(quote)) return at;
  let inClass = false;
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === '\\') end++;
    else if (isRegex && text[end] === '[') inClass = true;
    else if (isRegex && text[end] === ']') inClass = false;
    else if (text[end] === quote && !inClass) return end;
    // An apostrophe in the text of a page or in a digit separator is no string.
    else if (text[end] === '\n' && quote !== '`') return at;
  }
  return at;
}

/** Lines of Python without blank ones, comments and texts that stand alone, as documentation does. */
export function countHashed(text) {
  const bare = text.replace(/^[ \t]*("""|''')[\s\S]*?\1/gm, '');
  return bare.split('\n').filter((line) => !/^\s*(#|$)/.test(line)).length;
}

/** Lines of a page without blank ones and comments. */
function countTagged(text) {
  const bare = text.replace(/<!--[\s\S]*?-->/g, '');
  return bare.split('\n').filter((line) => line.trim() !== '').length;
}

function countCode(file, text) {
  if (file.endsWith('.py')) return countHashed(text);
  return file.endsWith('.html') ? countTagged(text) : countSlashed(text);
}

function filesOf(revision) {
  const listed =
    revision === undefined
      ? git('ls-files', '--cached', '--others', '--exclude-standard', 'src', 'native', 'test')
      : git('ls-tree', '-r', '--name-only', revision, 'src', 'native', 'test');
  const deleted = revision === undefined ? new Set(git('ls-files', '--deleted').split('\n')) : null;
  return listed.split('\n').filter((file) => CODE.test(file) && !deleted?.has(file));
}

/** `src/matrix` of `src/matrix/node/open.ts`; files right below src, native or test count for it. */
const folderOf = (file) => file.split('/').slice(0, -1).slice(0, 2).join('/');

function countAll(revision) {
  const folders = {};
  for (const file of filesOf(revision)) {
    const text =
      revision === undefined
        ? readFileSync(path.join(root, file), 'utf8')
        : git('show', `${revision}:${file}`);
    const lines = countCode(file, text);
    const entry = (folders[folderOf(file)] ??= { files: 0, lines: 0 });
    entry.files++;
    entry.lines += lines;
  }
  return folders;
}

function print(folders) {
  const row = (name, { files, lines }) =>
    `${name.padEnd(20)}${String(lines).padStart(8)} lines in ${files} files`;
  for (const top of ['src', 'native', 'test']) {
    const own = Object.entries(folders).filter(([name]) => name.split('/')[0] === top);
    const total = { files: 0, lines: 0 };
    for (const [, { files, lines }] of own) {
      total.files += files;
      total.lines += lines;
    }
    for (const [name, entry] of own.sort(([a], [b]) => a.localeCompare(b))) {
      if (name !== top) console.log(row(name, entry));
    }
    console.log(row(`${top}, all`, total));
  }
}

if (process.argv[1] === import.meta.filename) {
  const args = process.argv.slice(2);
  const folders = countAll(args.find((arg) => !arg.startsWith('--')));
  if (args.includes('--json')) console.log(JSON.stringify(folders, null, 2));
  else print(folders);
}
