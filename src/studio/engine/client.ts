/** The page's side of the engine: methods that are carried out in the worker. */
import type { EngineApi, EngineCall, EngineMethod, EngineReply, LoadProgress } from './protocol.js';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface RunningEngine {
  readonly api: EngineApi;
  /** Ends the worker and gives its memory back; what it still owed fails. */
  stop(): void;
}

/** Starts a worker; `onProgress` hears of downloads. */
export function startEngine(onProgress: (progress: LoadProgress) => void): RunningEngine {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  const waiting = new Map<number, Waiting>();
  let calls = 0;

  worker.onmessage = ({ data }: MessageEvent<EngineReply>) => {
    if ('progress' in data) {
      onProgress(data.progress);
      return;
    }
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if ('fault' in data) call?.reject(new Error(data.fault));
    else call?.resolve(data.value);
  };
  const failAll = (words: string): void => {
    for (const call of waiting.values()) call.reject(new Error(words));
    waiting.clear();
  };
  worker.onerror = (event) =>
    failAll(`the engine could not start: ${event.message || 'its script is gone'}`);

  const call = (method: EngineMethod, given: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++calls;
      waiting.set(id, { resolve, reject });
      const message: EngineCall = { id, method, arguments: given };
      worker.postMessage(message);
    });

  const api = new Proxy({} as EngineApi, {
    get:
      (_, method) =>
      (...given: readonly unknown[]) =>
        call(method as EngineMethod, given),
  });
  const stop = (): void => {
    worker.terminate();
    failAll('the model was put away');
  };
  return { api, stop };
}
