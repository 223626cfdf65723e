/**
 * One rank of a tiny training, or the whole of it where no launcher's environment says otherwise. Writes
 * one JSON line for each step (its terms, in full precision) and one at the end with a hash of the weights.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { rendezvousOf } from '../../src/torch/index.js';
import { joinTeam, train } from '../../src/training/index.js';
import type { NewRunOptions, TrainOptions } from '../../src/training/index.js';
import { fingerprintOf } from '../../src/training/parallel/fingerprint.js';
import { tinyModel, tinyRun } from './tiny.js';

export interface ChildSpec {
  readonly out: string;
  readonly model?: object;
  readonly changes?: Partial<NewRunOptions>;
  readonly timeoutSeconds?: number;
  readonly joinSeconds?: number;
}

const spec = JSON.parse(process.argv[2]) as ChildSpec;
const rendezvous = rendezvousOf();
const say = (line: object): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);
const controller = new AbortController();
process.once('SIGTERM', () => controller.abort());

function settings(): TrainOptions {
  if (rendezvous !== null && rendezvous.rank > 0) return { follow: true };
  if (existsSync(path.join(spec.out, 'config.json'))) return { resume: spec.out };
  return tinyRun(spec.out, { model: tinyModel(spec.model), ...spec.changes });
}

try {
  const { timeoutSeconds, joinSeconds } = spec;
  const joined = rendezvous && (await joinTeam(rendezvous, { timeoutSeconds, joinSeconds }));
  let weights = '';
  const ended: TrainOptions['ended'] = (model) => {
    weights = fingerprintOf(model).toString('hex');
  };
  const outcome = await train(
    { ...settings(), ...joined, workers: 1, ended },
    { step: ({ step, terms }) => say({ step, terms }) },
    controller.signal,
  );
  say({ ...outcome, weights });
  joined?.leave();
} catch (error) {
  say({ failure: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
  process.exitCode = 1;
}
