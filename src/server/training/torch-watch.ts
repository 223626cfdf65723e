/** Whether this machine can train. Looked at once; if it cannot, again from time to time. */
import { probeTorch } from '../probe/probe.js';

const LOOK_AGAIN_MS = 10_000;

interface TorchState {
  /** `cpu`, `cuda:0` …; none if libtorch is missing. */
  readonly devices: readonly string[];
  /** Why there are none, one sentence; null otherwise. */
  readonly reason: string | null;
}

async function look(): Promise<TorchState> {
  const { found, reason } = await probeTorch();
  if (found === null) return { devices: [], reason };
  return { devices: ['cpu', ...found.devices.map((_, i) => `cuda:${i}`)], reason: null };
}

export class TorchWatch {
  #state: Promise<TorchState> | null = null;
  #looked = 0;

  /** What was found; a person who installs libtorch meanwhile need not start the server again. */
  async look(): Promise<TorchState> {
    this.#state ??= this.#lookNow();
    const state = await this.#state;
    const old = performance.now() - this.#looked > LOOK_AGAIN_MS;
    if (state.reason === null || !old) return state;
    this.#state = this.#lookNow();
    return this.#state;
  }

  #lookNow(): Promise<TorchState> {
    this.#looked = performance.now();
    return look();
  }
}
