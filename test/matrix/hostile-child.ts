/**
 * The process in which damaged files are read, started by hostile.test.ts with little memory. It
 * prints one JSON line: how each kind ended, what went wrong, the slowest, and the memory taken.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FormatError, memorySource } from '../../src/base/index.js';
import {
  decodePng,
  decodeRavenNpz,
  openSetFrom,
  parseRavenXml,
  validateProblem,
  type SetBatch,
} from '../../src/matrix/index.js';
import { openHdf5Cache } from '../../src/matrix/node/hdf5.js';
import { damage, damageArray, damagePng, damageXml, randomFrom } from './hostile-mutations.js';

const [folder, counts] = process.argv.slice(2);

/** Throws where a value that was read is not what its type promises. */
function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`accepted, but ${what}`);
}

function checkBatch(batch: SetBatch, count: number): void {
  check(batch.panel.length === count * 9 * 4096, 'panel has another length');
  check(batch.selection.length === count * 8 * 4096, 'selection has another length');
  check(batch.answer.length === count && batch.label.length === count, 'another count');
  check(
    batch.answer.every((index) => index >= 0 && index < 8),
    'answer is out of range',
  );
}

type Reader = (bytes: Uint8Array) => Promise<void> | void;
type Damage = (bytes: Uint8Array, random: () => number) => Uint8Array;

const eitherOf =
  (a: Damage, b: Damage): Damage =>
  (bytes, random) =>
    random() < 0.5 ? a(bytes, random) : b(bytes, random);

const readSet: Reader = async (bytes) => {
  const set = await openSetFrom(memorySource(bytes, 'set.npz'));
  const count = Math.min(set.count, 4);
  checkBatch(await set.read(0, count), count);
};

const FORMATS: Record<string, { file: string; damage: Damage; read: Reader }> = {
  npz: {
    file: 'problem.npz',
    damage: eitherOf(damage, damageArray),
    read: async (bytes) => {
      const { images, target } = await decodeRavenNpz(bytes);
      check(images.length === 16 * 160 * 160, 'image has another size');
      check(Number.isInteger(target) && target >= 0 && target < 8, 'target is out of range');
    },
  },
  xml: {
    file: 'problem.xml',
    damage: damageXml,
    read: (bytes) => validateProblem(parseRavenXml(Buffer.from(bytes).toString('utf8'))),
  },
  set: { file: 'set.npz', damage: eitherOf(damage, damageArray), read: readSet },
  deflated: { file: 'deflated.npz', damage, read: readSet },
  png: {
    file: 'sheet.png',
    damage: eitherOf(damage, damagePng),
    read: (bytes) => {
      const { width, height, data } = decodePng(bytes);
      check(data.length === width * height, 'the image has another size');
      check(
        data.every((grey) => grey >= 0 && grey <= 1),
        'a grey value is out of range',
      );
    },
  },
  hdf5: {
    file: 'cache.hdf5',
    damage,
    read: async (bytes) => {
      const file = path.join(folder, 'damaged.hdf5');
      writeFileSync(file, bytes);
      const cache = await openHdf5Cache(file, { configuration: 'center', timeLimit: 5000 });
      try {
        const count = Math.min(cache.count, 2);
        checkBatch(await cache.read(0, count), count);
      } finally {
        await cache.close();
      }
    },
  },
};

const failures: string[] = [];
const outcomes: Record<string, { refused: number; accepted: number; slowest: number }> = {};

async function attack(name: string, count: number): Promise<void> {
  const format = FORMATS[name];
  const good = new Uint8Array(readFileSync(path.join(folder, format.file)));
  await format.read(good); // an undamaged file is read
  const outcome = (outcomes[name] = { refused: 0, accepted: 0, slowest: 0 });
  for (let seed = 0; seed < count; seed++) {
    const bytes = format.damage(good, randomFrom(seed));
    const start = performance.now();
    try {
      await format.read(bytes);
      outcome.accepted += 1;
    } catch (error) {
      if (error instanceof FormatError) outcome.refused += 1;
      else failures.push(`${name} ${seed}: ${String(error)}`);
    }
    outcome.slowest = Math.max(outcome.slowest, performance.now() - start);
  }
}

const peak = (): number => process.resourceUsage().maxRSS / 1024;
const before = peak();
for (const [name, count] of Object.entries(JSON.parse(counts) as Record<string, number>)) {
  await attack(name, count);
}
process.stdout.write(`${JSON.stringify({ outcomes, failures, grownBy: peak() - before })}\n`);
