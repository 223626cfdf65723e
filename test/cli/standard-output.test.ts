/** Data on standard output and in pipes: complete or not at all, and nothing else beside them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { scratchFolder } from '../scratch-folder.js';
import { failureOf } from './crab-in-process.js';
import { crab, CRAB } from './run-crab.js';
import { words } from './words.js';

const posix = process.platform !== 'win32';
const folder = scratchFolder();
const at = (name: string): string => path.join(folder, name);

/** Runs a line of a shell, in which `crab` is the command. */
const shell = (line: string) =>
  spawnSync('bash', ['-c', line.replaceAll('crab', `"${process.execPath}" "${CRAB}"`)], {
    cwd: folder,
    encoding: 'utf8',
  });

const few = words`generate --config center --count 3 --workers 1 --quiet`;

describe('standard output', () => {
  test.each([
    [few, 'jsonl'],
    [few, 'npz'],
    [words`text --set i-raven --count 3 --quiet`, null],
  ])('gets the bytes of the file, and the report goes elsewhere: %#', async (asked, format) => {
    const file = at(`${asked[0]}.${format ?? 'jsonl'}`);
    const args = format === null ? asked : [...asked, '--format', format];
    await crab([...args, '--out', file]);
    const { status, stdout, stderr } = spawnSync(process.execPath, [CRAB, ...args, '--out', '-']);
    expect(String(stderr)).toMatch(/^3 problems.*: -\n$/);
    expect(status).toBe(0);
    expect(stdout.equals(readFileSync(file))).toBe(true);
  });

  test.skipIf(!posix)(
    'may be a file that the shell opened, and a pipe that nobody reads on',
    () => {
      const args = 'generate --config center --count 40 --workers 1 --format jsonl';
      const { status } = shell(
        `crab ${args} --out /dev/stdout --json > forty.jsonl 2> report.json`,
      );
      expect(status).toBe(0);
      expect(readFileSync(at('forty.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(40);
      expect(JSON.parse(readFileSync(at('report.json'), 'utf8'))).toMatchObject({ problems: 40 });
      const cut = shell(`set -o pipefail; crab ${args} --quiet --out - | head -c 20`);
      expect(cut.status).toBe(0);
      expect(cut.stdout).toHaveLength(20);
      expect(cut.stderr).toMatch(/^40 problems/);
    },
  );

  test.skipIf(process.platform !== 'linux')('that is full is a failure in one sentence', () => {
    for (const args of [[...few, '--format', 'jsonl', '--out', '-'], ['systems']]) {
      const stdio = ['ignore', openSync('/dev/full', 'w'), 'pipe'] as const;
      const { status, stderr } = spawnSync(process.execPath, [CRAB, ...args], {
        stdio: [...stdio],
      });
      expect(String(stderr)).toMatch(/^crab: .*no space left.*\n$/);
      expect(status).toBe(1);
    }
  });

  test.each([
    [few, /^--out -: --format raven makes a folder of files, and standard output takes one file/],
    [
      words`generate --config center,up-down --count 1 --format npz`,
      /^--out -: a set for each configuration makes a folder/,
    ],
    [words`solve ${CRAB}`, /^--out -: the results go to standard output already; name a file/],
    [words`convert ${CRAB} --format png`, /^--out -: --format png makes a folder of files/],
    [words`report --pictures center`, /^--out -: this command makes a folder/],
    [words`train --config center`, /^--out -: a run is a folder: name one/],
  ])('is no place for folders and for reports: %#', async (args, message) => {
    const failure = await failureOf(...args, '--out', '-');
    expect(failure.message).toMatch(message);
    expect(failure.code).toBe(2);
    expect(readdirSync(process.cwd())).not.toContain('-');
  });

  test('does not take the answers too', async () => {
    const args = [...few, '--format', 'jsonl', '--out', at('x.jsonl'), '--answers', '-'];
    expect((await failureOf(...args)).message).toBe('--answers - is no file: name a new one');
  });
});

test.skipIf(!posix)('a pipe gets what crab generate makes', () => {
  execFileSync('mkfifo', [at('pipe')]);
  const { stdout } = shell(`cat pipe & crab ${few.join(' ')} --format jsonl --out pipe >&2; wait`);
  expect(stdout.trimEnd().split('\n')).toHaveLength(3);
});
