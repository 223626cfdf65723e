/** What tests of training ask of a server, and what they wait for. */
import type { RunState, RunSummary, TrainStatus } from '../../src/protocol/index.js';
import type { Listener } from './listener.js';
import { ask, json, post, type Reply } from './site.js';

/** A wish that the server can fulfil. */
export const START = {
  configuration: 'center',
  noisy: false,
  preset: 'small',
  device: 'cpu',
  minutes: 60,
  seed: 5,
};

export const start = (port: number, changes: object = {}): Promise<Reply> =>
  post(port, '/api/training/start', { ...START, ...changes });
export const act = (port: number, action: string, name: string): Promise<Reply> =>
  post(port, `/api/training/${action}`, { name });
export const status = async (port: number): Promise<TrainStatus> =>
  json<TrainStatus>(await ask(port, '/api/training'));
export const errorOf = (reply: Reply): string => json<{ error: string }>(reply).error;

/** Waits until a run is in a state. */
export const state = (
  listener: Listener,
  name: string,
  wanted: RunState,
  from = 0,
): Promise<TrainStatus> =>
  listener.until(
    'status',
    ({ runs }) => runs.some((run) => run.name === name && run.state === wanted),
    from,
  );

export const runOf = (found: TrainStatus, name: string): RunSummary | undefined =>
  found.runs.find((run) => run.name === name);
