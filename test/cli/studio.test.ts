import { type ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { pageFolder } from '../../src/server/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { crab, type Outcome } from './run-crab.js';

const folder = scratchFolder();
const isBuilt = existsSync(path.join(pageFolder(), 'index.html'));

/** Runs `crab studio`; `onLine` is called with its first line of output. */
const studio = (
  args: readonly string[],
  onLine: (line: string, child: ChildProcess) => void = () => {},
): Promise<Outcome> =>
  crab(['studio', ...args], {
    cwd: folder,
    onStart: (child) => {
      let said = '';
      child.stdout?.on('data', (data: Buffer) => {
        const isFirst = !said.includes('\n');
        said += data.toString();
        if (isFirst && said.includes('\n')) onLine(said, child);
      });
    },
  });

describe('crab studio, wrong use', () => {
  test.each([['--port', '70000'], ['--port', 'http'], ['--port'], ['--colour', 'red']])(
    '%s %s',
    async (...args) => {
      const { code, stdout } = await studio(args);
      expect(code).toBe(2);
      expect(stdout).toBe('');
    },
  );
});

describe.skipIf(isBuilt)('crab studio without the page', () => {
  test('says how to build it', async () => {
    const { code, stderr } = await studio([]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/the page is not built: run `npm run build`/);
  });
});

describe.skipIf(!isBuilt)('crab studio', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('serves until %s and ends cleanly', async (signal) => {
    let page: Promise<{ status: number; isolated: string | null; text: string }> | undefined;
    const { code, stdout, stderr } = await studio(['--port', '0', '--json'], (line, child) => {
      const { url } = JSON.parse(line) as { url: string };
      page = fetch(url).then(async (answer) => ({
        status: answer.status,
        isolated: answer.headers.get('cross-origin-embedder-policy'),
        text: await answer.text(),
      }));
      void page.finally(() => child.kill(signal));
    });
    expect(await page).toMatchObject({ status: 200, isolated: 'require-corp' });
    expect((await page)?.text).toMatch(/<script/);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ port: expect.any(Number) as number });
    expect(existsSync(path.join(folder, 'runs'))).toBe(false);
  });

  test('a port that is taken, and an address of elsewhere', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const taken = await studio(['--port', String(port)]);
    other.close();
    expect([taken.code, taken.stderr]).toEqual([
      2,
      expect.stringMatching(`--port ${port}: something else listens there already`),
    ]);
    const elsewhere = await studio(['--port', '0', '--host', '203.0.113.7']);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      2,
      expect.stringMatching(/--host 203\.0\.113\.7: not an address of this machine/),
    ]);
    const nowhere = await studio(['--zoo', path.join(folder, 'no-zoo')]);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringMatching(/no such folder/)]);
    const file = path.join(folder, 'a-file');
    writeFileSync(file, '');
    for (const [option, location] of [
      ['--runs', file],
      ['--runs', path.join(file, 'runs')],
      ['--zoo', file],
    ]) {
      const refused = await studio(['--port', '0', option, location]);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringMatching(`${option} .*is a file, a folder was expected`),
      ]);
    }
  });

  test('beyond this machine it says what that means', async () => {
    const { code, stdout, stderr } = await studio(
      ['--port', '0', '--host', '0.0.0.0'],
      (_, child) => void child.kill('SIGINT'),
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^CRAB studio: http:\/\/localhost:\d+\/ \(Ctrl-C ends it\)$/m);
    expect(stderr).toMatch(/everyone who can reach this machine/);
  });
});
