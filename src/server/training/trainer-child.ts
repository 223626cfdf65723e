/**
 * The trainer process: does one job of the server and ends. It stops, with a checkpoint, when it is
 * told to, on Ctrl-C, and when the server is gone.
 */
import { constants, setPriority } from 'node:os';
import { sentenceOf } from '../faults.js';
import type { Job, Order, Report } from './protocol.js';

const stop = new AbortController();
const abort = (): void => stop.abort();
process.on('disconnect', abort);
process.on('SIGINT', abort);
process.on('SIGTERM', abort);
// Without a server nobody reads what libraries print.
process.stderr.on('error', () => {});

function tell(report: Report): void {
  if (process.connected) process.send?.(report, () => {});
}

/** Returns when the last message has been sent, or can no longer be sent. */
function tellLast(report: Report): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(report, () => resolve());
    else resolve();
  });
}

function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Not allowed everywhere; the page is then a little slower.
  }
}

async function doJob(job: Job): Promise<Report> {
  if (job.kind === 'export') {
    return (await import('./export-job.js')).runExport(job, tell, stop.signal);
  }
  return (await import('./train-job.js')).runTraining(job, tell, stop.signal);
}

async function work(job: Job): Promise<void> {
  lowerPriority();
  let last: Report;
  try {
    last = await doJob(job);
  } catch (error) {
    last = { kind: 'failed', fault: sentenceOf(error) };
  }
  await tellLast(last);
  process.exit(last.kind === 'failed' ? 1 : 0);
}

process.on('message', (message: Order) => {
  if (message.order === 'stop') abort();
  else void work(message.job);
});
