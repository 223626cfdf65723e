import { spawnSync } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compiledProgram } from '../compiled-program.js';
import {
  distributedBackends,
  ProcessGroupError,
  rendezvousOf,
  torchInfo,
} from '../../src/torch/index.js';
import { firstHost } from '../../src/torch/distributed-environment.js';
import type { RankTask } from './distributed-child.js';
import { RANKS, SCENARIOS } from './distributed-scenarios.js';
import { endRanks, freePort, startRank, startRanks, type Rank } from './ranks.js';

/** The Python of the libtorch that the addon uses: only theirs speak the same language. */
const PYTHON = '/usr/bin/python3';
function hasPythonTorch(): boolean {
  const script = 'import torch; print(torch.__version__)';
  const { status, stdout } = spawnSync(PYTHON, ['-c', script], { encoding: 'utf8' });
  const { info } = torchInfo();
  const ours = info?.version.split('.').slice(0, 2).join('.');
  return status === 0 && ours !== undefined && stdout.startsWith(`${ours}.`);
}

const CHILD = compiledProgram('torch/distributed-child');

const running: Rank[] = [];

async function start(task: RankTask, size = RANKS): Promise<Rank[]> {
  const ranks = await startRanks(CHILD, task, size);
  running.push(...ranks);
  return ranks;
}

/** Numbers of any nesting, one after the other. */
const flat = (value: unknown): number[] =>
  Array.isArray(value) ? value.flatMap(flat) : [value as number];

function expectClose(actual: unknown, expected: unknown, tolerance = 1e-12): void {
  const [a, b] = [flat(actual), flat(expected)];
  expect(a.length).toBe(b.length);
  expect(a.length).toBeGreaterThan(0);
  const worst = Math.max(...a.map((v, i) => Math.abs(v - b[i]) / Math.max(1, Math.abs(b[i]))));
  expect(worst).toBeLessThan(tolerance);
}

describe('where a process stands', () => {
  test('torchrun', () => {
    const env = {
      MASTER_ADDR: 'node1',
      MASTER_PORT: '1234',
      RANK: '3',
      WORLD_SIZE: '4',
      LOCAL_RANK: '1',
      LOCAL_WORLD_SIZE: '2',
      TORCHELASTIC_USE_AGENT_STORE: 'True',
      TORCHELASTIC_RESTART_COUNT: '2',
    };
    expect(rendezvousOf(env)).toEqual({
      rank: 3,
      size: 4,
      localRank: 1,
      localSize: 2,
      host: 'node1',
      port: 1234,
      agentStore: true,
      attempt: '2',
    });
  });

  test('a PyTorchJob, which says nothing of its machine', () => {
    const env = { MASTER_ADDR: 'job-master-0', MASTER_PORT: '23456', RANK: '0', WORLD_SIZE: '2' };
    expect(rendezvousOf(env)).toMatchObject({ localRank: 0, localSize: null, agentStore: false });
  });

  test('srun', () => {
    const env = {
      SLURM_PROCID: '5',
      SLURM_NTASKS: '8',
      SLURM_STEP_NUM_TASKS: '8',
      SLURM_LOCALID: '1',
      SLURM_JOB_ID: '41234',
      SLURM_STEP_NODELIST: 'gpu[03-05,9],login1',
    };
    expect(rendezvousOf(env)).toMatchObject({
      rank: 5,
      size: 8,
      localRank: 1,
      host: 'gpu03',
      port: 21234,
    });
    const { SLURM_STEP_NUM_TASKS: _, ...batchScript } = env;
    expect(rendezvousOf({ ...batchScript, SLURM_PROCID: '0' })).toBeNull();
  });

  test.each([
    ['n1', 'n1'],
    ['n[1-4]', 'n1'],
    ['rack2-n[007,9]', 'rack2-n007'],
    ['a,b[1-2]', 'a'],
    ['n[1-2]-ib,m1', 'n1-ib'],
    ['r[3-4]n[01,07-9]', 'r3n01'],
  ])('the first machine of %s', (list, first) => {
    expect(firstHost(list)).toBe(first);
  });

  test.each(['n[]', ',n1', 'n[1-2', ''])('“%s” is no list of machines', (list) => {
    expect(() => firstHost(list)).toThrow(/not a list of machines/);
  });

  test('a process on its own', () => {
    expect(rendezvousOf({})).toBeNull();
    expect(rendezvousOf({ SLURM_PROCID: '', SLURM_STEP_NUM_TASKS: '2' })).toBeNull();
  });

  test.each([
    [{ WORLD_SIZE: '2', RANK: '0' }, /MASTER_ADDR is not set/],
    [{ WORLD_SIZE: '2', MASTER_ADDR: 'a' }, /RANK is not set/],
    [{ WORLD_SIZE: 'two', MASTER_ADDR: 'a', RANK: '0' }, /WORLD_SIZE=two: expected a whole number/],
    [{ WORLD_SIZE: '2', MASTER_ADDR: 'a', RANK: '2' }, /rank 2 of 2: expected 0 to 1/],
    [{ WORLD_SIZE: '2', MASTER_ADDR: 'a', RANK: '1', MASTER_PORT: '70000' }, /port 70000/],
    [{ WORLD_SIZE: '0', MASTER_ADDR: 'a', RANK: '0' }, /WORLD_SIZE=0: expected at least 1/],
    [{ MASTER_ADDR: 'a', RANK: '0' }, /WORLD_SIZE is not set beside RANK/],
  ])('a wrong environment is named: %j', (env, message) => {
    expect(() => rendezvousOf(env)).toThrow(ProcessGroupError);
    expect(() => rendezvousOf(env)).toThrow(message);
  });
});

describe.skipIf(!distributedBackends().includes('gloo'))('a group of processes', () => {
  let ranks: Rank[];
  beforeAll(async () => {
    ranks = await start({
      scenarios: [
        'collectives',
        'gather',
        'batchNorm',
        'unalikeNorm',
        'reducer',
        'handedOn',
        'afterFailure',
        'misuse',
      ],
    });
  });
  afterAll(() => endRanks(running));

  /** What each rank found in a scenario. */
  const found = <T>(name: keyof typeof SCENARIOS): Promise<T[]> =>
    Promise.all(
      ranks.map(async (rank) => {
        const line = await rank.line((each) => each.name === name || 'failure' in each);
        expect(line.failure).toBeUndefined();
        return line.found as T;
      }),
    );

  test('collectives', async () => {
    for (const answer of await found('collectives')) {
      expect(answer).toEqual({
        sum: [6, 30],
        least: 3,
        most: 5,
        product: 6,
        shared: 14,
        gathered: [0, 1, 2].map((rank) => [[rank], [2]]),
      });
    }
  });

  test('a gather has the gradient of the whole', async () => {
    const whole = SCENARIOS.gather(null);
    const parts = await found<{ all: number[]; gradient: number[] }>('gather');
    for (const part of parts) expectClose(part.all, whole.all);
    // [4, n, 2] of each rank lie interleaved in the whole.
    const rows = [0, 1, 2, 3].flatMap((row) =>
      parts.flatMap(({ gradient }) => gradient.slice(row * 6, row * 6 + 6)),
    );
    expectClose(rows, whole.gradient);
  });

  /** Of one rank, or of all rows together. */
  interface NormResult extends Record<'weight' | 'bias' | 'mean' | 'variance', number[]> {
    y: number[][];
    gradient: number[][];
  }

  const sumOf = (each: readonly NormResult[], key: 'weight' | 'bias'): number[] =>
    each[0][key].map((_, c) => each.reduce((sum, part) => sum + part[key][c], 0));

  /** Rows of the ranks are those of the whole, gradients of the bias add up, statistics are shared. */
  function expectTogether(each: readonly NormResult[], expected: NormResult): void {
    for (const key of ['y', 'gradient'] as const) {
      const parts = each.map((part) => part[key]);
      expectClose(parts, expected[key]);
    }
    expectClose(sumOf(each, 'bias'), expected.bias);
    for (const { mean, variance } of each) {
      expectClose(mean, expected.mean);
      expectClose(variance, expected.variance);
    }
  }

  test('batch normalisation is that of all rows together, whoever has how many', async () => {
    const whole = SCENARIOS.batchNorm(null) as unknown as { results: NormResult[] };
    const parts = await found<{ results: NormResult[] }>('batchNorm');
    whole.results.forEach((expected, n) => {
      const each = parts.map(({ results }) => results[n]);
      expectTogether(each, expected);
      expectClose(sumOf(each, 'weight'), expected.weight);
    });
  });

  test('it is so for ranks without rows and with other running statistics', async () => {
    interface Answer {
      results: NormResult[];
      failure: string;
    }
    const whole = SCENARIOS.unalikeNorm(null) as unknown as Answer;
    const parts = await found<Answer>('unalikeNorm');
    whole.results.forEach((expected, n) => {
      const each = parts.map(({ results }) => results[n]);
      expectTogether(each, expected);
    });
    for (const { failure } of parts) expect(failure).toMatch(/more than 1 value per channel/);
  });

  test('gradients are the mean of all ranks, in buckets', async () => {
    const whole = SCENARIOS.reducer(null);
    const parts = await found<{ gradients: number[][]; buckets: number }[]>('reducer');
    for (const part of parts) {
      part.forEach(({ gradients }, i) => {
        expectClose(gradients, whole[i].gradients);
        expect(gradients).toEqual(parts[0][i].gradients);
      });
      // Six gradients and an empty one; two that are large, and the others; all together.
      expect(part.map(({ buckets }) => buckets)).toEqual([7, 3, 1]);
    }
  });

  test('gradients in memory that others still read are not changed for them', async () => {
    for (const passes of await found('handedOn')) {
      expect(passes).toEqual([
        [2, 6],
        [2, 6],
        [2, 6],
      ]);
    }
  });

  test('what a failed pass left under way does not reach the next one', async () => {
    for (const passes of await found<unknown[]>('afterFailure')) {
      expect(passes[2]).toMatch(/gradients must be cleared/);
      expect(passes.filter((_, pass) => pass !== 2)).toEqual([
        [2, 2, 2],
        [2, 2, 2],
        [2, 2, 2],
      ]);
    }
  });

  test('misuse is an error that says what is wrong, on every rank alike', async () => {
    for (const { messages, sum } of await found<{ messages: string[]; sum: number }>('misuse')) {
      expect(messages[0]).toMatch(/^TorchError: backward: a parameter received no gradient/);
      expect(messages[1]).toBe('');
      expect(messages[2]).toMatch(/^TorchError: backward: gradients must be cleared/);
      expect(messages[3]).toMatch(/^TorchError: allReduce_: expected one of sum, min, max/);
      expect(messages[4]).toMatch(/^TorchError: allReduce_: the tensor's elements must be dense/);
      expect(messages[5]).toBe('');
      expect(messages[6]).toBe('');
      expect(messages[7]).toMatch(/^TorchError: backward: gradients must be cleared/);
      expect(messages[8]).toMatch(/^TorchError: .*: a parameter is given twice/);
      expect(messages[9]).toMatch(/^TorchError: allGather: the process group has been closed/);
      expect(sum).toBe(RANKS);
    }
  });

  test.skipIf(!hasPythonTorch())('torchrun keeps the store itself: joined twice', async () => {
    const port = await freePort();
    const program = `import sys, torch.distributed as d
store = d.TCPStore('127.0.0.1', int(sys.argv[1]), None, True, wait_for_workers=False)
print('{"ready": true}', flush=True)
sys.stdin.read()`;
    const agent = startRank([PYTHON, '-c', program, port.toString()], process.env);
    running.push(agent);
    await agent.line(() => true);
    for (const attempt of ['0', '1']) {
      const env = {
        MASTER_PORT: port.toString(),
        TORCHELASTIC_USE_AGENT_STORE: 'True',
        TORCHELASTIC_RESTART_COUNT: attempt,
      };
      const two = await startRanks(CHILD, { scenarios: ['collectives'] }, 2, { env });
      running.push(...two);
      for (const rank of two) {
        expect(await rank.line(() => true)).toMatchObject({ found: { sum: [3, 20] } });
      }
    }
  });

  test('a rank that hangs is noticed when the time is over', async () => {
    const three = await start({ scenarios: ['hang'], timeoutSeconds: 6 });
    for (const rank of three.slice(0, 2)) {
      const { found: noticed } = await rank.line(() => true);
      expect(noticed).toMatchObject({
        failure: expect.stringMatching(
          /^ProcessGroupError: allReduce_: .*([Tt]imed out|closed|reset)/,
        ) as string,
      });
    }
    expect(three[2].lines).toEqual([]);
  });

  test('a rank that never comes is missed by name', async () => {
    const [first, second] = await start({ scenarios: ['collectives'], joinSeconds: 4 }, 2);
    second.child.kill('SIGKILL');
    const { failure } = await first.line(() => true);
    expect(failure).toBe('ProcessGroupError: join: only 1 of 2 ranks joined within 4 s');
    expect((await first.end).code).toBe(1);
  });

  test('something else that listens at the port is given up, and holds nobody', async () => {
    const stranger = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((done) => stranger.listen(0, '127.0.0.1', done));
    const { port } = stranger.address() as AddressInfo;
    const env = { MASTER_PORT: port.toString(), RANK: '1' };
    const [rank] = await startRanks(CHILD, { scenarios: ['collectives'], joinSeconds: 6 }, 1, {
      env: { ...env, WORLD_SIZE: '2' },
    });
    running.push(rank);
    const { failure } = await rank.line(() => true);
    // Which step of joining is the one that is not answered depends on how fast the others were.
    expect(failure).toMatch(
      new RegExp(
        `^ProcessGroupError: join: (the store at |rank 1 of 2: .*)?127\\.0\\.0\\.1:${port} (does not answer as rank 0 would|did not open|within)`,
      ),
    );
    // A request that is never answered is still under way.
    expect((await rank.end).code).toBe(1);
    stranger.close();
  });

  test('ranks that do not fit together are told how', async () => {
    const twins = await startRanks(CHILD, { scenarios: ['collectives'], joinSeconds: 300 }, 3, {
      env: (rank) => ({ RANK: Math.min(rank, 1).toString() }),
    });
    running.push(...twins);
    // Whichever of the two comes second; rank 0 goes on waiting for a third one.
    const isTold = (line: Record<string, unknown>): boolean =>
      /a rank 1 was here before/.test(String(line.failure));
    await Promise.any(twins.slice(1).map((rank) => rank.line(isTold)));
    expect(twins[0].lines).toEqual([]);

    const unlike = await startRanks(CHILD, { scenarios: ['collectives'], joinSeconds: 60 }, 2, {
      env: (rank) => ({ WORLD_SIZE: rank === 0 ? '3' : '2' }),
    });
    running.push(...unlike);
    const { failure } = await unlike[1].line(() => true);
    expect(failure).toMatch(/this is rank 1 of 2, but rank 0 waits for 3 ranks/);
  });
});
