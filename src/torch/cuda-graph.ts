/**
 * CUDA graphs, and the side stream they are captured on. A stream is a device's queue of work. Each thread
 * works on the device's default stream until it moves to its side stream; whichever it is on, work
 * happens in the order it was asked for. A capture cannot take place on the default stream, nor involve
 * what autograd made there and still holds: hence `warmUp`, and `useSideStream` for programs that mix
 * captured steps with ordinary ones.
 */
import { guarded } from './dispatch.js';
import { OutOfMemoryError, TorchError } from './errors.js';
import { synchronous } from './handle.js';
import { collectGarbage, native } from './native.js';
import type { GraphHandle } from './native.js';
import type { Generator } from './random.js';
import { scope } from './scope.js';
import type { Device } from './types.js';

/**
 * Moves all further work of this thread on a device to its side stream, for good. Work asked for before
 * comes first, so it may be called at any time; calling it again does nothing. Other threads are not
 * affected. A program that captures a step, goes on with ordinary steps and captures again should call
 * this first, so that everything happens on the stream of the captures.
 */
export function useSideStream(device: Device = 'cuda'): void {
  guarded('useSideStream', (addon) => addon.enterSideStream(device));
}

/** Runs `fn`, which must be synchronous, with this thread's work on a device in its side stream. */
export function onSideStream<T>(fn: () => T, device: Device = 'cuda'): T {
  const moved = guarded('onSideStream', (addon) => addon.enterSideStream(device));
  try {
    return synchronous('onSideStream', fn);
  } finally {
    if (moved) native().leaveSideStream(device);
  }
}

export interface CaptureOptions {
  /** Every generator that the function draws from, so that replays draw anew. */
  readonly generators?: readonly Generator[];
  /**
   * Ordinary runs before the capture, on the same stream; what they made is freed. Libraries choose their
   * algorithms then, so at least one is needed where the function has not run before; three are usual.
   */
  readonly warmUp?: number;
  /** Where the captured work runs. */
  readonly device?: Device;
}

/**
 * A captured sequence of CUDA work that can be run again at almost no cost. The caller keeps the tensors
 * that the captured work reads and writes: a replay uses the same memory. Where ordinary runs came before
 * on another stream, what they made must be freed: an autograd graph that is still alive belongs to that
 * stream, and a backward pass through the same parameters cannot be captured.
 */
export class CudaGraph<T = unknown> {
  readonly #handle: GraphHandle;
  /** What the captured function returned. */
  readonly result: T;

  private constructor(handle: GraphHandle, result: T) {
    this.#handle = handle;
    this.result = result;
  }

  /** Captures `fn`. An error in it ends the capture; the device can be used as before. */
  static capture<T>(fn: () => T, options: CaptureOptions = {}): CudaGraph<T> {
    const { generators = [], warmUp = 0, device = 'cuda' } = options;
    if (!Number.isSafeInteger(warmUp) || warmUp < 0) {
      throw new TorchError('CudaGraph.capture', `warmUp = ${warmUp}: expected a number of runs`);
    }
    const states = generators.map((generator) => generator.handleFor('CudaGraph.capture'));
    const handle = guarded('CudaGraph.capture', (addon) => addon.graphCreate(device));
    return onSideStream(() => {
      for (let run = 0; run < warmUp; run++) scope(() => void fn());
      collectGarbage();
      guarded('CudaGraph.capture', (addon) => addon.graphBegin(handle, states));
      const result = recorded(handle, fn);
      guarded('CudaGraph.capture', (addon) => addon.graphEnd(handle));
      return new CudaGraph(handle, result);
    }, device);
  }

  replay(): void {
    guarded('CudaGraph.replay', (addon) => addon.graphReplay(this.#handle));
  }

  /** Frees the graph and its memory. */
  dispose(): void {
    guarded('CudaGraph.dispose', (addon) => addon.graphReset(this.#handle));
  }
}

/** Runs a function that is being captured; ends the capture if it fails. */
function recorded<T>(handle: GraphHandle, fn: () => T): T {
  try {
    return synchronous('CudaGraph.capture', fn);
  } catch (error) {
    abandon(handle);
    throw explained(error);
  }
}

/** Ends a capture whose function failed; the failure itself is what matters. */
function abandon(handle: GraphHandle): void {
  try {
    native().graphEnd(handle);
  } catch {
    // A broken capture cannot be ended properly; the addon has cleaned up all the same.
  }
}

/** An operation's error, with the fact that it is the capture which it could not take part in. */
function explained(error: unknown): unknown {
  if (!(error instanceof TorchError) || error instanceof OutOfMemoryError) return error;
  if (!/CUDA error|captur/i.test(error.message)) return error;
  return new TorchError('CudaGraph.capture', `${error.message}; this cannot be captured`, {
    cause: error,
  });
}
