/** Trains the tiny run in a process of its own, which a test may kill at any moment. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { train } from '../../src/training/index.js';
import { tinyRun } from './tiny.js';

const [run] = process.argv.slice(2);
const resume = existsSync(path.join(run, 'config.json'));
const controller = new AbortController();
process.once('SIGTERM', () => controller.abort());
const outcome = await train(
  { ...(resume ? { resume: run } : tinyRun(run)), workers: 1 },
  { step: ({ step }) => process.stdout.write(`step ${step}\n`) },
  controller.signal,
);
process.stdout.write(`${JSON.stringify(outcome)}\n`);
