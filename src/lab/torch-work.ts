/**
 * A trained model on libtorch at work for the lab: slice by slice, so that memory is bounded and work can
 * be aborted, and with bytes in place of tensors on both sides.
 */
import type { SystemModel } from '../models/index.js';
import { noGrad, scope, tensor, type Tensor } from '../torch/index.js';

/** Puts values on the model's device; bytes become values in [0, 1]. */
export type Put = (data: Float32Array | Uint8Array, shape: readonly number[]) => Tensor;

/** Where a model works, looked up once: listing all its weights takes longer than a small slice. */
const places = new WeakMap<SystemModel, Pick<Tensor, 'device' | 'dtype'>>();

function placeOf(model: SystemModel): Pick<Tensor, 'device' | 'dtype'> {
  const known = places.get(model);
  if (known !== undefined) return known;
  const { device, dtype } = model.parameters()[0];
  places.set(model, { device, dtype });
  return { device, dtype };
}

/** How many things a slice has: a GPU waits for the host between small ones, a CPU runs out of its caches with large ones. */
export interface AtOnce {
  readonly cpu: number;
  readonly gpu: number;
}

/** Pictures, of whatever a model is asked about them. */
export const IMAGES_AT_ONCE: AtOnce = { cpu: 64, gpu: 2048 };

/** Calls `work` for slices of `count` things from the first on, and gives all its values in order. */
export async function inSlices(
  model: SystemModel,
  count: number,
  atOnce: AtOnce,
  work: (first: number, length: number, put: Put) => Tensor,
  signal?: AbortSignal,
): Promise<Float32Array> {
  const { device, dtype } = placeOf(model);
  const put: Put = (data, shape) => {
    const values = tensor(data, { shape: [...shape], device }).to({ dtype });
    return data instanceof Uint8Array ? values.div(255) : values;
  };
  const most = device === 'cpu' ? atOnce.cpu : atOnce.gpu;
  const parts: Float32Array[] = [];
  for (let first = 0; first < count; first += most) {
    signal?.throwIfAborted();
    await new Promise(setImmediate);
    const length = Math.min(most, count - first);
    const values = noGrad(() =>
      scope(() => work(first, length, put).to({ dtype: 'f32', device: 'cpu' }).contiguous().data()),
    );
    parts.push(values as Float32Array);
  }
  if (parts.length === 1) return parts[0];
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
