/** The trainer process as the server sees it: one job, its reports, and how it ended. */
import { endAfter, startWorker, tell, type Worker } from '../child-process.js';
import type { Job, Order, Report } from './protocol.js';

/** Time to finish the current step, write the last checkpoint and exit; a slower process is killed. */
const STOPPING_MS = 60_000;

/** What is told of a process that ended without a last report. */
function obituary(code: number | null, signal: NodeJS.Signals | null, last: string): string {
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  const memory = signal === 'SIGKILL' ? ' (perhaps for want of memory)' : '';
  return `the trainer was ended ${how}${memory}${last === '' ? '' : `: ${last}`}`;
}

export class Trainer {
  readonly #worker: Worker;
  #ended = false;
  /** Resolves with the last report: `ended`, `exported` or `failed`. */
  readonly outcome: Promise<Report>;

  constructor(job: Job, onReport: (report: Report) => void) {
    this.#worker = startWorker('training/trainer-child');
    const { process: child, lastLine } = this.#worker;
    let last: Report | null = null;
    child.on('message', (message) => {
      const report = message as Report;
      if (['ended', 'exported', 'failed'].includes(report.kind)) last = report;
      else onReport(report);
    });
    this.outcome = new Promise((resolve) => {
      const end = (fallback: string): void => {
        this.#ended = true;
        resolve(last ?? { kind: 'failed', fault: fallback });
      };
      child.once('error', (error) => end(`the trainer could not be started: ${error.message}`));
      // After `exit`, messages and standard error may still arrive; `close` comes after them.
      child.once('close', (code, signal) => end(obituary(code, signal, lastLine())));
    });
    this.#tell({ order: 'begin', job });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /** Asks it to stop with a checkpoint. */
  stop(): void {
    if (this.#ended) return;
    this.#tell({ order: 'stop' });
    endAfter(this.#worker.process, STOPPING_MS);
  }

  #tell(order: Order): void {
    tell(this.#worker.process, order);
  }
}
