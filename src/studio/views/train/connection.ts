/** The page's line to the server of `crab studio`: what it says of training, as signals. */
import { signal } from '@preact/signals';
import {
  TRAIN_API,
  type AccuracyPoint,
  type ApiFault,
  type ExportedBundle,
  type NoteUpdate,
  type PanelsUpdate,
  type RulesUpdate,
  type RunSummary,
  type StartRequest,
  type StepPoint,
  type StepUpdate,
  type TrainEvents,
  type TrainStatus,
} from '../../../protocol/index.js';

const MOST_POINTS = 2000;
const MOST_NOTES = 5;

/** `absent`: a host without such a server answers; `silent`: nothing does. */
export type Line = 'asking' | 'absent' | 'silent' | 'open' | 'lost';

export const line = signal<Line>('asking');
export const status = signal<TrainStatus | null>(null);
export const steps = signal<readonly StepPoint[]>([]);
export const validations = signal<readonly AccuracyPoint[]>([]);
export const latest = signal<StepUpdate | null>(null);
export const panels = signal<PanelsUpdate | null>(null);
export const rules = signal<RulesUpdate | null>(null);
export const notes = signal<readonly NoteUpdate[]>([]);

/** Every second point where there are too many: a curve needs no more than a screen shows. */
const thinned = <T>(points: readonly T[]): readonly T[] =>
  points.length <= MOST_POINTS ? points : points.filter((_, i) => i % 2 === 0);

function clear(): void {
  steps.value = [];
  validations.value = [];
  latest.value = null;
  panels.value = null;
  rules.value = null;
  notes.value = [];
}

const HANDLERS: { readonly [Name in keyof TrainEvents]: (event: TrainEvents[Name]) => void } = {
  status: (event) => {
    if (event.shown !== status.peek()?.shown) clear();
    status.value = event;
  },
  history: (event) => {
    steps.value = event.steps;
    validations.value = event.validations;
  },
  step: (event) => {
    latest.value = event;
    steps.value = thinned([...steps.peek(), event]);
  },
  accuracy: (event) => (validations.value = thinned([...validations.peek(), event])),
  panels: (event) => (panels.value = event),
  rules: (event) => (rules.value = event),
  note: (event) => (notes.value = [...notes.peek(), event].slice(-MOST_NOTES)),
};

function listen<Name extends keyof TrainEvents>(source: EventSource, name: Name): void {
  const handle: (event: TrainEvents[Name]) => void = HANDLERS[name];
  source.addEventListener(name, (message: MessageEvent<string>) => {
    handle(JSON.parse(message.data) as TrainEvents[Name]);
  });
}

/** The server's status, or why there is none: a plain web host answers 404, or with the page itself. */
async function ask(): Promise<TrainStatus | 'absent' | 'silent'> {
  try {
    const response = await fetch(TRAIN_API.status, { headers: { accept: 'application/json' } });
    const type = response.headers.get('content-type') ?? '';
    const isServer = response.ok && type.includes('json');
    return isServer ? ((await response.json()) as TrainStatus) : 'absent';
  } catch {
    return 'silent';
  }
}

/** Opens the line; returns what closes it. */
export function connect(): () => void {
  let source: EventSource | null = null;
  let closed = false;
  line.value = 'asking';
  void ask().then((found) => {
    if (closed) return;
    if (found === 'absent' || found === 'silent') {
      line.value = found;
      return;
    }
    HANDLERS.status(found);
    source = new EventSource(TRAIN_API.events);
    source.onopen = () => (line.value = 'open');
    source.onerror = () => (line.value = 'lost');
    for (const name of Object.keys(HANDLERS) as (keyof TrainEvents)[]) listen(source, name);
  });
  return () => {
    closed = true;
    source?.close();
  };
}

async function post<Answer>(address: string, body: object): Promise<Answer> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch((cause: unknown) => {
    throw new Error('The server does not answer. Is crab studio still running?', { cause });
  });
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer as Answer;
  const fault = (answer as ApiFault | null)?.error;
  throw new Error(fault ?? `the server answers ${response.status}`);
}

export const start = (request: StartRequest): Promise<RunSummary> => post(TRAIN_API.start, request);
export const stop = (name: string): Promise<RunSummary> => post(TRAIN_API.stop, { name });
export const resume = (name: string): Promise<RunSummary> => post(TRAIN_API.resume, { name });
export const exportRun = (name: string): Promise<ExportedBundle> =>
  post(TRAIN_API.export, { name });
