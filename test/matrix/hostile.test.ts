import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { unzipSync, zipSync } from 'fflate';
import { beforeAll, expect, test } from 'vitest';
import { compiledProgram } from '../compiled-program.js';
import {
  encodePng,
  encodeRavenNpz,
  encodeSet,
  formatRavenXml,
  problemToBatch,
  renderProblem,
  sampleProblem,
} from '../../src/matrix/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { writeCache } from './hdf5-cache.js';

const folder = scratchFolder();
const long = Boolean(process.env.CRAB_TEST_LONG);
const scale = long ? 5 : 1;
const COUNTS = { npz: 600, xml: 600, set: 300, deflated: 100, png: 600 };
const HDF5 = long ? 2000 : 200;
const MEBIBYTES = 256;
/** The HDF5 library takes 170 for itself; files that were kept would be a thousand. */
const HDF5_MEBIBYTES = 384;

interface Report {
  readonly outcomes: Record<string, { refused: number; accepted: number; slowest: number }>;
  readonly failures: readonly string[];
  /** Growth of the largest resident memory, in MiB. */
  readonly grownBy: number;
}

/** Runs the attack in a process whose heap is limited; a crash of it rejects. */
function attack(counts: Record<string, number>): Promise<Report> {
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${MEBIBYTES}`,
      compiledProgram('matrix/hostile-child'),
      ...[folder, JSON.stringify(counts)],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  return new Promise((resolve, reject) => {
    let output = '';
    let complaints = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (complaints += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 && complaints === '') resolve(JSON.parse(output) as Report);
      else reject(new Error(`ended with ${code}: ${complaints.slice(-2000)}`));
    });
  });
}

beforeAll(async () => {
  const at = (index: number) =>
    sampleProblem({ configuration: 'center', variant: 'i-raven', seed: 6, index });
  const problem = at(0);
  const { images } = renderProblem(problem);
  const batch = (index: number) => problemToBatch(at(index));
  const write = (name: string, data: Uint8Array | string): void =>
    writeFileSync(path.join(folder, name), data);
  mkdirSync(folder, { recursive: true });
  write('problem.npz', encodeRavenNpz(problem, images));
  write('problem.xml', formatRavenXml(problem));
  const set = encodeSet(batch(1));
  write('set.npz', set);
  write('deflated.npz', zipSync(unzipSync(set), { level: 6 }));
  const grey = { width: 160, height: 160, channels: 1, data: images.subarray(0, 25600) } as const;
  write('sheet.png', encodePng(grey));
  await writeCache(path.join(folder, 'cache.hdf5'), 2, batch, [1, 0, 3]);
});

test(
  'damaged files end in a FormatError or a valid value, in little memory',
  { timeout: long ? 900_000 : 300_000 },
  async () => {
    const counts = Object.fromEntries(
      Object.entries(COUNTS).map(([name, count]) => [name, count * scale]),
    );
    const report = await attack(counts);
    expect(report.failures).toEqual([]);
    for (const [name, count] of Object.entries(counts)) {
      const { refused, accepted } = report.outcomes[name];
      expect(refused + accepted).toBe(count);
      expect(refused, name).toBeGreaterThan(count / 4);
    }
    expect(report.grownBy).toBeLessThan(MEBIBYTES);
  },
);

test(
  'damaged HDF5 files too, and the library prints nothing',
  { timeout: long ? 900_000 : 300_000 },
  async () => {
    const report = await attack({ hdf5: HDF5 });
    expect(report.failures).toEqual([]);
    expect(report.outcomes.hdf5.refused + report.outcomes.hdf5.accepted).toBe(HDF5);
    expect(report.outcomes.hdf5.refused).toBeGreaterThan(0);
    expect(report.grownBy).toBeLessThan(HDF5_MEBIBYTES);
  },
);
