/**
 * Runs benches; each prints Markdown and says with its exit code whether its bars were met.
 *
 *     npm run bench                              all, one after the other
 *     npm run bench -- --list                    what there is
 *     npm run bench -- --json DIR                all, with DIR/NAME.json of each
 *     npm run bench -- NAME [its own options]    one; the options are those of its first comment
 *
 * A bench is a program in this folder or one below whose first comment shows how it is run (a line with
 * `bench/NAME`); other files there are parts of benches. TypeScript runs from the sources through tsx,
 * the rest in plain Node. Exits with 1 where a bench did, with 2 on wrong use.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const root = resolve(folder, '..');

/** The first comment of a file as lines without its marks; none where the file opens otherwise. */
function openingComment(file) {
  const comment = /^\/\*\*(.*?)\*\//s.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
  return comment.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trim());
}

/** Up to the first full stop that ends a word. */
const firstSentence = (lines) => /^.*?[.:;](?=\s|$)/.exec(lines.join(' ').trim())?.[0] ?? '';

function findBenches() {
  const benches = [];
  for (const entry of readdirSync(folder, { recursive: true }).map(String).toSorted()) {
    const name = entry.replaceAll('\\', '/').replace(/\.(ts|mjs)$/, '');
    if (name === entry || name === 'run') continue;
    const lines = openingComment(join(folder, entry));
    if (!lines.some((line) => /^(node|npx) /.test(line) && line.includes(`bench/${name}.`)))
      continue;
    benches.push({ name, file: join(folder, entry), about: firstSentence(lines) });
  }
  return benches;
}

/** True where the bench ended with 0. */
function run({ name, file }, args) {
  console.log(`\n## ${name}\n`);
  const loader = extname(file) === '.ts' ? ['--import', 'tsx'] : [];
  const { status, error } = spawnSync(process.execPath, [...loader, file, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  if (error) console.error(`${name}: ${error.message}`);
  return status === 0;
}

const jsonFile = (directory, { name }) => join(directory, `${name.replaceAll('/', '-')}.json`);

function runAll(benches, directory) {
  if (directory !== undefined) mkdirSync(directory, { recursive: true });
  const failed = benches.filter((bench) => {
    const args = directory === undefined ? [] : ['--json', jsonFile(directory, bench)];
    return !run(bench, args);
  });
  console.log(`\n${benches.length - failed.length} of ${benches.length} benches met their bars.`);
  for (const { name } of failed) console.log(`- ${name} did not`);
  return failed.length === 0 ? 0 : 1;
}

function wrongUse(message, benches) {
  console.error(`${message}; there are ${benches.map(({ name }) => name).join(', ')}`);
  return 2;
}

function main([first, ...rest]) {
  const benches = findBenches();
  if (first === undefined) return runAll(benches);
  if (first === '--json') {
    return rest.length === 1
      ? runAll(benches, resolve(rest[0]))
      : wrongUse('--json takes one folder', benches);
  }
  if (first === '--list') {
    for (const { name, about } of benches) console.log(`- ${name}: ${about}`);
    return 0;
  }
  const bench = benches.find(({ name }) => name === first);
  if (!bench) return wrongUse(`no bench is called ${first}`, benches);
  return run(bench, rest) ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
