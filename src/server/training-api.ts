/** The addresses of the training API, and what each leads to. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readJson } from './body.js';
import { HttpFault, requireMethod } from './faults.js';
import { TRAIN_API } from '../protocol/index.js';
import type { TrainingService } from './training/service.js';

type Handler = (
  service: TrainingService,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<object | null>;

function reading(answer: (service: TrainingService) => Promise<object>): Handler {
  return (service, request) => {
    requireMethod(request, 'GET', 'HEAD');
    return answer(service);
  };
}

function changing(
  answer: (service: TrainingService, body: Record<string, unknown>) => Promise<object>,
): Handler {
  return async (service, request) => {
    requireMethod(request, 'POST');
    const body = await readJson(request);
    // An export takes a while, during which nothing is sent.
    request.socket.setTimeout(0);
    return answer(service, body);
  };
}

async function listen(
  service: TrainingService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<null> {
  requireMethod(request, 'GET');
  await service.listen(response);
  return null;
}

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  [TRAIN_API.status, reading((service) => service.status())],
  [TRAIN_API.events, listen],
  [TRAIN_API.start, changing((service, body) => service.start(body))],
  [TRAIN_API.stop, changing((service, body) => service.stop(body))],
  [TRAIN_API.resume, changing((service, body) => service.resume(body))],
  [TRAIN_API.export, changing((service, body) => service.export(body))],
]);

/** Answers a request. Returns the JSON to send, or null if the answer is being sent already. */
export function answerApi(
  service: TrainingService,
  segments: readonly string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<object | null> {
  const handler = HANDLERS.get(segments.join('/'));
  if (handler === undefined) throw new HttpFault(404, 'there is nothing at this address');
  return handler(service, request, response);
}
