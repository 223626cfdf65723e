/** Outputs named by a link or a pipe: the link stays and its target is new, the pipe gets the bytes. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { problemToBatch, sampleProblem } from '../../src/matrix/index.js';
import { outputPlace, writeFileAtomically } from '../../src/base/node.js';
import { SetWriter } from '../../src/matrix/node.js';
import { scratchFolder } from '../scratch-folder.js';

const posix = process.platform !== 'win32';
const SYNCS = [{ sync: true }, { sync: false }];

function makePipe(folder: string): string {
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  return pipe;
}

/** What comes out of a pipe while something is written to it by its name. */
async function throughPipe(pipe: string, write: () => Promise<unknown>): Promise<Buffer> {
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [bytes] = await Promise.all([buffer(reader.stdout), write()]);
    return bytes;
  } finally {
    if (reader.exitCode === null && reader.kill()) await once(reader, 'exit');
  }
}

describe.skipIf(!posix)('a link', () => {
  test.each(SYNCS)('to a file stays, and the file is new: %o', async (options) => {
    const folder = scratchFolder();
    mkdirSync(path.join(folder, 'below'));
    const target = path.join(folder, 'below', 'target.txt');
    writeFileSync(target, 'old');
    symlinkSync('below/target.txt', path.join(folder, 'first'));
    symlinkSync('first', path.join(folder, 'second'));
    await writeFileAtomically(path.join(folder, 'second'), 'new', options);
    expect(readFileSync(target, 'utf8')).toBe('new');
    expect(readlinkSync(path.join(folder, 'second'))).toBe('first');
    expect(readlinkSync(path.join(folder, 'first'))).toBe('below/target.txt');
    expect(readdirSync(path.join(folder, 'below'))).toEqual(['target.txt']);
    expect(readdirSync(folder).sort()).toEqual(['below', 'first', 'second']);
  });

  test.each(SYNCS)('to nothing yet makes its target: %o', async (options) => {
    const folder = scratchFolder();
    mkdirSync(path.join(folder, 'below'));
    symlinkSync('below', path.join(folder, 'other-way'));
    symlinkSync('../new.txt', path.join(folder, 'below', 'link'));
    await writeFileAtomically(path.join(folder, 'other-way', 'link'), 'new', options);
    expect(readFileSync(path.join(folder, 'new.txt'), 'utf8')).toBe('new');
    expect(readlinkSync(path.join(folder, 'below', 'link'))).toBe('../new.txt');
  });

  test('in a circle is an error', async () => {
    const folder = scratchFolder();
    symlinkSync('b', path.join(folder, 'a'));
    symlinkSync('a', path.join(folder, 'b'));
    await expect(writeFileAtomically(path.join(folder, 'a'), 'x')).rejects.toThrow();
    expect(readdirSync(folder).sort()).toEqual(['a', 'b']);
  });
});

describe.skipIf(!posix)('a pipe', () => {
  test.each(SYNCS)('gets the bytes of a file and stays a pipe: %o', async (options) => {
    const folder = scratchFolder();
    const pipe = makePipe(folder);
    const data = Uint8Array.from({ length: 3_000_000 }, (_, i) => i % 251);
    const bytes = await throughPipe(pipe, () => writeFileAtomically(pipe, data, options));
    expect(bytes.equals(data)).toBe(true);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    expect(readdirSync(folder)).toEqual(['pipe']);
  });

  test('behind a link is written to as well', async () => {
    const folder = scratchFolder();
    const pipe = makePipe(folder);
    const link = path.join(folder, 'link');
    symlinkSync('pipe', link);
    const bytes = await throughPipe(pipe, () => writeFileAtomically(link, 'hello'));
    expect(bytes.toString()).toBe('hello');
    expect(readlinkSync(link)).toBe('pipe');
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  test('gets a whole set, which is not written in order', async () => {
    const pipe = makePipe(scratchFolder());
    const problem = sampleProblem({
      configuration: 'center',
      noisy: false,
      variant: 'i-raven',
      seed: 1,
      index: 0,
    });
    const batch = problemToBatch(problem);
    const write = async (file: string): Promise<void> => {
      const writer = await SetWriter.create(file, 1);
      await writer.add(batch);
      await writer.finish();
    };
    const plain = path.join(scratchFolder(), 'set.npz');
    await write(plain);
    const bytes = await throughPipe(pipe, () => write(pipe));
    expect(bytes.equals(readFileSync(plain))).toBe(true);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });
});

test('a folder is refused by name', async () => {
  const folder = scratchFolder();
  expect(() => outputPlace(folder)).toThrow(`${folder} is a folder: name a file`);
  await expect(writeFileAtomically(folder, 'x', { sync: false })).rejects.toThrow(/is a folder/);
  expect(readdirSync(folder)).toEqual([]);
});
