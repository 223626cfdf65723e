/**
 * A server in a process of its own, which a test may load, measure and kill. Told the options of the
 * studio as JSON; says its port, and on request what it holds.
 */
import { startStudio, type StudioOptions } from '../../src/server/index.js';

export interface Held {
  /** Bytes of the heap after collection, and of memory outside it. */
  readonly heap: number;
  readonly external: number;
  readonly resident: number;
  /** Sockets, timers, files and the like that are open. */
  readonly resources: number;
  readonly trainerPid: number | null;
}

declare const gc: () => void;

const studio = await startStudio(JSON.parse(process.argv[2]) as StudioOptions);

function held(): Held {
  gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo().length;
  return { heap: heapUsed, external, resident: rss, resources, trainerPid: studio.trainerPid };
}

process.on('message', (message: string) => {
  if (message === 'held') process.send?.(held());
  else void studio.close().then(() => process.disconnect());
});
process.send?.({ port: studio.port });
