import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { distributedBackends } from '../../src/torch/index.js';
import { openRun } from '../../src/training/index.js';
import type { Rank } from '../torch/ranks.js';
import { scratchFolder } from '../scratch-folder.js';
import { CRAB } from '../cli/run-crab.js';
import type { ChildSpec } from './parallel-child.js';
import { tinyModel } from './tiny.js';
import { rankStarter } from './parallel-ranks.js';
import { words } from '../cli/words.js';

const KILLS = process.env.CRAB_TEST_LONG ? 10 : 2;
const STEPS = 60;
/** Longest silence that ranks bear. A busy machine may hold one up, but a killed one is noticed at once. */
const PATIENCE_SECONDS = 60;
/** The same where silence alone tells that a rank is lost, which the test waits for. */
const SILENCE_SECONDS = 8;
const run = promisify(execFile);

const folder = scratchFolder();
const start = rankStarter();

const specOf = (name: string, timeoutSeconds = PATIENCE_SECONDS): ChildSpec => ({
  out: path.join(folder, name),
  timeoutSeconds,
  joinSeconds: PATIENCE_SECONDS,
  changes: { precision: 'f64', budget: { kind: 'steps', steps: STEPS } },
});

const stepOf = (line: Record<string, unknown>): number =>
  'terms' in line ? (line.step as number) : -1;

/** All ranks must end by themselves, with a failure that names the lost rank. */
async function expectLost(ranks: readonly Rank[]): Promise<void> {
  for (const rank of ranks) {
    const { failure } = await rank.line((line) => 'failure' in line);
    expect(failure).toMatch(/^(LostRankError: rank \d of \d lost another rank|ProcessGroupError)/);
    expect((await rank.end).code).toBe(1);
  }
}

/** Steps and terms of the metrics log, without the clock. */
async function logOf(name: string): Promise<[string, number, number][]> {
  const lines = await (await openRun(path.join(folder, name))).metrics();
  return lines.map((line) => [
    line.kind,
    line.step,
    line.kind === 'train' ? line.terms.loss : (line.globalSelectionAccuracy ?? NaN),
  ]);
}

describe.skipIf(!distributedBackends().includes('gloo'))('when ranks are lost', () => {
  test(
    'kill -9 at any moment: the others end, and the run goes on',
    { timeout: 900_000 },
    async () => {
      const spec = specOf('killed');
      let done = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        const ranks = await start(spec, 2);
        const victim = Math.floor(Math.random() * 2);
        // From the very start, rendezvous included, to somewhere after a few more steps.
        const until = done + Math.floor(Math.random() * 12);
        if (kill > 0) await ranks[victim].line((line) => stepOf(line) >= until);
        await sleep(Math.random() * 300);
        ranks[victim].child.kill('SIGKILL');
        expect((await ranks[victim].end).code).toBe('SIGKILL');
        await expectLost([ranks[1 - victim]]);
        done = await checkpointOf(spec.out);
      }
      const size = KILLS % 2 === 0 ? 2 : 1;
      const ranks = await start(spec, size);
      const end = await ranks[0].line((line) => 'finished' in line);
      expect(end).toMatchObject({ finished: true, step: STEPS });
      const [calm] = await start(specOf('calm'), 1);
      await calm.line((line) => 'finished' in line);
      const [found, expected] = [await logOf('killed'), await logOf('calm')];
      expect(found.map(([kind, step]) => [kind, step])).toEqual(
        expected.map(([kind, step]) => [kind, step]),
      );
      found.forEach(([, , value], n) => {
        const wanted = expected[n][2];
        expect(Math.abs(value - wanted)).toBeLessThanOrEqual(1e-7 * Math.max(1, Math.abs(wanted)));
      });
    },
  );

  /** The newest checkpoint opens, if there is one yet; its step. */
  async function checkpointOf(out: string): Promise<number> {
    if (!existsSync(path.join(out, 'config.json'))) return 0;
    const opened = await openRun(out);
    const { latest } = await opened.steps();
    if (latest === null) return 0;
    const loaded = await opened.loadModel('latest');
    expect(loaded.model.parameters().every((weight) => Number.isFinite(weight.sum().item()))).toBe(
      true,
    );
    loaded.dispose();
    return loaded.step;
  }

  test('a rank that hangs is given up after the time-out', async () => {
    const ranks = await start(specOf('hung', SILENCE_SECONDS), 2);
    await ranks[0].line((line) => stepOf(line) >= 11);
    ranks[1].child.kill('SIGSTOP');
    await expectLost([ranks[0]]);
    expect(await checkpointOf(path.join(folder, 'hung'))).toBeGreaterThanOrEqual(10);
  });
});

/** A process's children, as the system lists them. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').filter(Boolean).map(Number);
}

interface Command {
  readonly child: ChildProcess;
  output: string;
  readonly end: Promise<number | string>;
  said(pattern: RegExp): Promise<void>;
}

function crab(...args: string[]): Command {
  const child = spawn(process.execPath, [CRAB, 'train', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const command: Command = {
    child,
    output: '',
    end: new Promise((resolve) => {
      child.once('close', (code, signal) => resolve(signal ?? code ?? -1));
    }),
    said: async (pattern) => {
      while (!pattern.test(command.output)) {
        if (child.exitCode !== null) throw new Error(`it ended first: ${command.output}`);
        await sleep(50);
      }
    },
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (command.output += text));
  }
  return command;
}

const hasProc = existsSync(`/proc/${process.pid}/task/${process.pid}/children`);

describe.skipIf(!distributedBackends().includes('gloo') || !hasProc)('crab train --nproc', () => {
  let flags: string[];
  beforeAll(async () => {
    const overrides = path.join(folder, 'overrides.json');
    const { network, optimizer, rulePrior } = tinyModel();
    await writeFile(
      overrides,
      JSON.stringify({ network, rulePrior, optimizer: { batchSize: optimizer.batchSize } }),
    );
    flags = ['--config', 'center', '--preset', 'small', '--overrides', overrides];
    flags.push('--pool', '24', '--checkpoint-every', '5', '--log-every', '5');
    flags.push('--rank-timeout', `${PATIENCE_SECONDS}s`);
  });

  /** Waits for the checkpoint of step 5. */
  async function keptFive(job: Command, out: string): Promise<void> {
    while (!existsSync(path.join(out, 'checkpoint-00000005.safetensors'))) {
      if (job.child.exitCode !== null) throw new Error(job.output);
      await sleep(20);
    }
  }

  test('a killed rank costs a restart, no more', async () => {
    const out = path.join(folder, 'restarted');
    const job = crab(...flags, '--steps', '40', '--out', out, '--nproc', '2', '--restarts', '1');
    await keptFive(job, out);
    const [, second] = await childrenOf(job.child.pid ?? 0);
    process.kill(second, 'SIGKILL');
    expect(await job.end).toBe(0);
    expect(job.output).toMatch(/crab: rank 1 was ended by SIGKILL; starting all ranks again/);
    expect(job.output).toMatch(/rank 0 of 2 lost another rank after \d+ steps/);
    expect(job.output).toMatch(/with 2 processes from step \d+/);
    expect(await (await openRun(out)).steps()).toMatchObject({ latest: 40 });
    const steps = (await (await openRun(out)).metrics())
      .filter(({ kind }) => kind === 'train')
      .map(({ step }) => step);
    expect(steps).toEqual([5, 10, 15, 20, 25, 30, 35, 40]);
  });

  test('Ctrl-C stops all ranks at one step and keeps it', async () => {
    const out = path.join(folder, 'interrupted');
    const job = crab(...flags, '--steps', '5000', '--out', out, '--nproc', '2');
    await keptFive(job, out);
    const ranks = await childrenOf(job.child.pid ?? 0);
    expect(ranks).toHaveLength(2);
    job.child.kill('SIGINT');
    expect(await job.end).toBe(130);
    expect(job.output).toMatch(/stopped after \d+ steps; continue with: crab train --resume/);
    for (const pid of ranks) expect(existsSync(`/proc/${pid}`)).toBe(false);
    const { latest } = await (await openRun(out)).steps();
    expect(latest).toBe(Number(/stopped after (\d+) steps/.exec(job.output)?.[1]));
  });

  /** The processes of the ranks, as soon as they are there. */
  async function ranksOf(job: Command): Promise<number[]> {
    for (;;) {
      const found = await childrenOf(job.child.pid ?? 0);
      if (found.length === 2) return found;
      if (job.child.exitCode !== null) throw new Error(job.output);
      await sleep(5);
    }
  }

  test('a rank killed while the ranks meet costs a restart, too', async () => {
    const out = path.join(folder, 'restarted-early');
    const job = crab(...flags, '--steps', '10', '--out', out, '--nproc', '2', '--restarts', '1');
    const [, second] = await ranksOf(job);
    process.kill(second, 'SIGKILL');
    expect(await job.end).toBe(0);
    expect(job.output).toMatch(/crab: rank 1 was ended by SIGKILL; starting all ranks again/);
    expect(await (await openRun(out)).steps()).toMatchObject({ latest: 10 });
  });

  test('what cannot be done is not tried again, and no other run is touched', async () => {
    const out = path.join(folder, 'refused');
    const old = crab(...flags, '--steps', '5', '--out', out);
    expect(await old.end).toBe(0);
    const many = ['--nproc', '2', '--restarts', '2'];
    const again = crab(...flags, '--steps', '10', '--out', out, ...many);
    expect(await again.end).toBe(2);
    expect(again.output).toMatch(/exists already; continue it with --continue or name another/);
    expect(await (await openRun(out)).steps()).toMatchObject({ latest: 5 });

    // Known to rank 0 alone, which tells the other.
    const uneven = crab(...flags, ...words`--steps 5 --out ${out}-3 --nproc 3 --restarts 2`);
    expect(await uneven.end).toBe(2);
    expect(uneven.output).toMatch(/cannot be shared equally by 3 ranks/);
    expect(uneven.output).not.toMatch(/again/);

    const absent = crab('--resume', `${out}-none`, ...many);
    expect(await absent.end).toBe(2);
    expect(absent.output).not.toMatch(/again/);
  });

  test('ranks do not outlive a launcher killed while they start', async () => {
    const out = path.join(folder, 'orphaned-early');
    const job = crab(...flags, '--steps', '50000', '--out', out, '--nproc', '2');
    const ranks = await ranksOf(job);
    job.child.kill('SIGKILL');
    for (const pid of ranks) while (existsSync(`/proc/${pid}`)) await sleep(50);
  });

  test('ranks do not outlive a killed launcher', async () => {
    const out = path.join(folder, 'orphaned');
    const job = crab(...flags, '--steps', '5000', '--out', out, '--nproc', '2');
    await keptFive(job, out);
    const ranks = await childrenOf(job.child.pid ?? 0);
    job.child.kill('SIGKILL');
    for (const pid of ranks) while (existsSync(`/proc/${pid}`)) await sleep(50);
    expect((await (await openRun(out)).steps()).latest).toBeGreaterThanOrEqual(5);
  });
});

/** Two hosts as network namespaces with one link between them. */
const NAMESPACES = [`crab-${process.pid}-a`, `crab-${process.pid}-b`];
const LINKS = [`crab${process.pid % 100000}a`, `crab${process.pid % 100000}b`];
const ip = (...args: string[]) => run('ip', args);

function canMakeNamespaces(): boolean {
  const probe = `crab-${process.pid}-probe`;
  if (spawnSync('ip', ['netns', 'add', probe]).status !== 0) return false;
  return spawnSync('ip', ['netns', 'del', probe]).status === 0;
}

describe.skipIf(!distributedBackends().includes('gloo') || !canMakeNamespaces())(
  'two hosts',
  () => {
    beforeAll(async () => {
      for (const name of NAMESPACES) await ip('netns', 'add', name);
      await ip('link', 'add', LINKS[0], 'type', 'veth', 'peer', 'name', LINKS[1]);
      for (const [n, name] of NAMESPACES.entries()) {
        await ip('link', 'set', LINKS[n], 'netns', name);
        await ip('-n', name, 'addr', 'add', `10.203.77.${n + 1}/24`, 'dev', LINKS[n]);
        await ip('-n', name, 'link', 'set', LINKS[n], 'up');
        await ip('-n', name, 'link', 'set', 'lo', 'up');
      }
    });
    afterAll(async () => {
      for (const name of NAMESPACES) await ip('netns', 'del', name).catch(() => {});
    });

    const startHosts = (spec: ChildSpec): Promise<Rank[]> => {
      const before = (rank: number) => ['ip', 'netns', 'exec', NAMESPACES[rank]];
      return start(spec, 2, { before, host: '10.203.77.1', local: false });
    };

    test('train together', async () => {
      const ranks = await startHosts(specOf('hosts'));
      const ends = await Promise.all(
        ranks.map((rank) => rank.line((line) => 'finished' in line || 'failure' in line)),
      );
      for (const end of ends) expect(end).toMatchObject({ finished: true, step: STEPS });
      expect(ends[0].weights).toBe(ends[1].weights);
    });

    test('a cut link ends both, and the checkpoint opens', async () => {
      const ranks = await startHosts(specOf('cut', SILENCE_SECONDS));
      await ranks[0].line((line) => stepOf(line) >= 15);
      await ip('-n', NAMESPACES[1], 'link', 'set', LINKS[1], 'down');
      await expectLost(ranks);
      const { latest } = await (await openRun(path.join(folder, 'cut'))).steps();
      expect(latest).toBeGreaterThanOrEqual(10);
      await ip('-n', NAMESPACES[1], 'link', 'set', LINKS[1], 'up');
    });
  },
);
