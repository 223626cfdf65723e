/**
 * How layers draw their first weights: in the type asked for, on the generator's own device, and
 * only then moved to theirs. So a seed of a CPU generator means the same network on every device.
 */
import { stack, zeros } from '../creation.js';
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
  options: LayerOptions,
  fill: (tensor: Tensor, generator: Generator) => void,
): Tensor {
  const [tensor] = drawnTogether([shape], options, ([only], generator) => fill(only, generator));
  return tensor;
}

/** Several tensors, filled by one function. */
export function drawnTogether(
  shapes: readonly (readonly number[])[],
  { generator, device = generator.device, dtype = 'f32' }: LayerOptions,
  fill: (tensors: Tensor[], generator: Generator) => void,
): Tensor[] {
  return scope(() => {
    const tensors = shapes.map((shape) => zeros(shape, { dtype, device: generator.device }));
    fill(tensors, generator);
    return tensors.map((tensor) => tensor.to({ device }));
  });
}

/** The same for `groups` layers in turn, each kind of tensor then stacked along a new first axis. */
export function drawnEach(
  groups: number,
  shapes: readonly (readonly number[])[],
  options: LayerOptions,
  fill: (tensors: Tensor[], generator: Generator) => void,
): Tensor[] {
  return scope(() => {
    const parts = Array.from({ length: groups }, () => drawnTogether(shapes, options, fill));
    return shapes.map((_, kind) => stack(parts.map((tensors) => tensors[kind])));
  });
}
