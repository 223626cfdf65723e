/** One rank of a group: runs the named scenarios and writes one JSON line for each. */
import { ProcessGroup, rendezvousOf } from '../../src/torch/index.js';
import { SCENARIOS } from './distributed-scenarios.js';

export interface RankTask {
  readonly scenarios: readonly (keyof typeof SCENARIOS)[];
  readonly timeoutSeconds?: number;
  readonly joinSeconds?: number;
}

const task = JSON.parse(process.argv[2]) as RankTask;
const rendezvous = rendezvousOf();
const say = (line: object): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);

try {
  if (rendezvous === null) throw new Error('this program is a rank; start it as one');
  // Long enough for a busy machine; what is lost is noticed at once.
  const { timeoutSeconds = 60, joinSeconds = 60 } = task;
  const options = { backend: 'gloo', timeoutSeconds, joinSeconds } as const;
  const group = await ProcessGroup.join(rendezvous, options);
  for (const name of task.scenarios) say({ name, found: await SCENARIOS[name](group) });
} catch (error) {
  say({ failure: `${(error as Error).name}: ${(error as Error).message}` });
  process.exitCode = 1;
}
