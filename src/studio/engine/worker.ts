/** The worker: hands calls of the page to the engine and sends back what it gives. */
import { Engine } from './engine.js';
import type { EngineApi, EngineCall, EngineReply } from './protocol.js';

/** Of a worker's global scope, which the types of a page do not know. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<EngineCall>) => void) | null;
  postMessage(message: EngineReply): void;
  readonly location: { readonly href: string };
}

const scope = globalThis as unknown as WorkerScope;
// The worker's script lies in `assets/`, one below the page.
const page = new URL('../', scope.location.href);
const engine = new Engine({ zoo: new URL('zoo/', page) }, (progress) =>
  scope.postMessage({ progress }),
);

type AnyMethod = (...given: readonly unknown[]) => Promise<unknown>;

scope.onmessage = ({ data: { id, method, arguments: given } }) => {
  const api: EngineApi = engine;
  const call = api[method].bind(engine) as AnyMethod;
  call(...given).then(
    (value) => scope.postMessage({ id, value }),
    (error: unknown) => {
      const fault = error instanceof Error ? error.message : String(error);
      scope.postMessage({ id, fault });
    },
  );
};
