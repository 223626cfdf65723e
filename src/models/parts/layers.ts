/** Small networks that systems are made of, and where panels stand. */
import { MATRIX_PANELS } from '../../matrix/index.js';
import { nn, noGrad, tensor, type Tensor } from '../../torch/index.js';

/** Layers of these widths with a ReLU between any two. */
export function mlp(
  widths: readonly number[],
  layer: (inputs: number, outputs: number) => nn.Layer,
): nn.Sequential {
  const layers = widths.slice(1).map((width, i) => layer(widths[i], width));
  return new nn.Sequential(
    ...layers.flatMap((each, i) => (i === 0 ? [each] : [new nn.ReLU(), each])),
  );
}

/** The square of He's bound for layers before a ReLU is so many times that of the library. */
const HE = 6;

/** The same with He's first weights before each ReLU: what differs between inputs keeps its size on the way. */
export function sizeKeepingMlp(
  widths: readonly number[],
  layer: (inputs: number, outputs: number) => nn.BatchedLinear,
): nn.Sequential {
  let made = 0;
  return mlp(widths, (inputs, outputs) => {
    const own = layer(inputs, outputs);
    if (++made < widths.length - 1) noGrad(() => own.weight.mul_(Math.sqrt(HE)));
    return own;
  });
}

/** Rows and columns of the nine panels, each -1, 0 or 1: [9, 2]. */
export function gridPositions(): nn.Buffer {
  const places = Array.from({ length: MATRIX_PANELS }, (_, n) => [
    Math.floor(n / 3) - 1,
    (n % 3) - 1,
  ]);
  return nn.buffer(tensor(places, { dtype: 'f32' }), { persistent: false });
}

/** The mean of those of nine vectors [..., 9, d] that are open: sets [..., G, 9], result [..., G, d]. */
export function openMean(vectors: Tensor, open: Tensor): Tensor {
  return open.div(open.sum(-1, true)).matmul(vectors);
}
