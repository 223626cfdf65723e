/**
 * How layers draw their first weights: in the type asked for, on the generator's own device, and
 * only then moved to theirs. So a seed of a CPU generator means the same network on every device.
 */
import { zeros } from '../creation.js';
import { TorchError } from '../errors.js';
import { Generator } from '../random.js';
import { scope } from '../scope.js';
import type { Tensor } from '../tensor.js';
import type { Device, DType } from '../types.js';

/** What every layer with weights must be told. */
export interface LayerOptions {
  /** The source of the first weights. */
  readonly generator: Generator;
  readonly device?: Device;
  readonly dtype?: DType;
}

/** Refuses a layer that is not told what to draw from: there is no hidden source of randomness. */
export function requireGenerator(layer: string, options: unknown): void {
  const given = (options as Partial<LayerOptions> | undefined)?.generator;
  if (given instanceof Generator) return;
  throw new TorchError(
    layer,
    "its last argument must name a generator, as in { generator: new Generator('cpu', 1) }",
  );
}

/** A tensor of this shape, filled by `fill`. */
export function drawn(
  shape: readonly number[],
  { generator, device = generator.device, dtype = 'f32' }: LayerOptions,
  fill: (tensor: Tensor, generator: Generator) => void,
): Tensor {
  return scope(() => {
    const tensor = zeros(shape, { dtype, device: generator.device });
    fill(tensor, generator);
    return tensor.to({ device });
  });
}
