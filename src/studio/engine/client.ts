/** The page's side of the engine: methods that are carried out in the worker. */
import type { EngineApi, EngineCall, EngineMethod, EngineReply, LoadProgress } from './protocol.js';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the worker; `onProgress` hears of downloads. */
export function startEngine(onProgress: (progress: LoadProgress) => void): EngineApi {
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
  worker.onerror = (event) => {
    const fault = new Error(`the engine could not start: ${event.message || 'its script is gone'}`);
    for (const call of waiting.values()) call.reject(fault);
    waiting.clear();
  };

  const call = (method: EngineMethod, given: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++calls;
      waiting.set(id, { resolve, reject });
      const message: EngineCall = { id, method, arguments: given };
      worker.postMessage(message);
    });

  return new Proxy({} as EngineApi, {
    get:
      (_, method) =>
      (...given: readonly unknown[]) =>
        call(method as EngineMethod, given),
  });
}
