/**
 * Worker threads that turn tasks into results, a bounded number at a time; results arrive in the
 * order of the tasks. When something fails or the caller aborts, no new task starts, those under way
 * end (so that nothing is left half-written), and then the error is thrown.
 */
import { parentPort, type Worker } from 'node:worker_threads';
import { startWorker } from './worker.js';

/** Each worker holds one task in hand and one in reserve, so that it never idles. */
const TASKS_PER_WORKER = 2;

interface Reply<Result> {
  readonly id: number;
  readonly result?: Result;
  readonly error?: PlainError;
}

/** What survives of an error on its way between threads: structured clones drop `code` and `path`. */
interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly path?: string;
}

function toPlain(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack, code, path } = error as NodeJS.ErrnoException;
  return { name, message, stack, code, path };
}

function fromPlain({ name, message, stack, code, path }: PlainError): Error {
  const error = new Error(message) as NodeJS.ErrnoException;
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  if (code !== undefined) error.code = code;
  if (path !== undefined) error.path = path;
  return error;
}

export interface PoolOptions<Task, Result> {
  /** The worker's module, relative to the caller's `import.meta.url`, with a `.js` ending. */
  readonly module: URL;
  readonly workerData: unknown;
  readonly workers: number;
  readonly tasks: readonly Task[];
  /** Called once for each task, in their order. */
  readonly onResult: (result: Result, task: Task) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/** Runs all tasks; resolves when the last result has been handled. */
export async function runPool<Task, Result>(options: PoolOptions<Task, Result>): Promise<void> {
  const { tasks, signal } = options;
  const size = Math.min(options.workers, tasks.length);
  const workers = Array.from({ length: size }, () =>
    startWorker(options.module, { workerData: options.workerData }),
  );
  try {
    signal?.throwIfAborted();
    // Each runner feeds one worker; results wait in `arrived` until their turn.
    const arrived = new Map<number, Result>();
    let next = 0;
    let handled = 0;
    let handling = Promise.resolve();
    let failure: unknown;
    const fail = (error: unknown): void => {
      failure ??= error ?? new Error('failed without an error');
    };
    const onAbort = (): void => fail(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });

    const handleArrived = async (): Promise<void> => {
      while (failure === undefined && arrived.has(handled)) {
        const result = arrived.get(handled) as Result;
        arrived.delete(handled);
        const task = tasks[handled++];
        await options.onResult(result, task);
      }
    };

    const feed = async (worker: Worker): Promise<void> => {
      const connection = new Connection<Task, Result>(worker);
      const lane = async (): Promise<void> => {
        while (failure === undefined && next < tasks.length) {
          const id = next++;
          try {
            arrived.set(id, await connection.ask(id, tasks[id]));
          } catch (error) {
            fail(error);
            return;
          }
          handling = handling.then(handleArrived).catch(fail);
          // Waiting here bounds how many results can pile up behind a slow reader.
          await handling;
        }
      };
      await Promise.all(Array.from({ length: TASKS_PER_WORKER }, lane));
    };
    await Promise.all(workers.map(feed));
    await handling;
    signal?.removeEventListener('abort', onAbort);
    if (failure !== undefined) throw failure as Error;
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** Questions to one worker and their answers. */
class Connection<Task, Result> {
  readonly #worker: Worker;
  readonly #waiting = new Map<
    number,
    { resolve: (result: Result) => void; reject: (error: Error) => void }
  >();
  #ended: Error | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', ({ id, result, error }: Reply<Result>) => {
      const asked = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) asked?.reject(fromPlain(error));
      else asked?.resolve(result as Result);
    });
    worker.on('error', (error: Error) => this.#end(error));
    worker.on('exit', (code) => this.#end(new Error(`a worker thread ended with code ${code}`)));
  }

  ask(id: number, task: Task): Promise<Result> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, task });
    });
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

/** The worker's side: answers each task, one after the other. */
export function serveTasks<Task, Result>(work: (task: Task) => Promise<Result> | Result): void {
  const port = parentPort;
  if (!port) throw new Error('serveTasks runs in a worker thread only');
  let queue = Promise.resolve();
  port.on('message', ({ id, task }: { id: number; task: Task }) => {
    queue = queue.then(async () => {
      try {
        port.postMessage({ id, result: await work(task) } satisfies Reply<Result>);
      } catch (error) {
        port.postMessage({ id, error: toPlain(error) } satisfies Reply<Result>);
      }
    });
  });
}
