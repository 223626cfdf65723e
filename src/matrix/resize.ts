/**
 * Ways to bring an image to another size, by name: projects differ in them, and published results with
 * them. All take pixel centres at half positions; images are square, bytes row by row.
 *
 *     ours       bilinear between the four nearest pixels, no antialiasing (CRAB, RAISE)
 *     area       mean of the area that a pixel covers (OpenCV's INTER_AREA)
 *     antialias  Gaussian blur, then bilinear (scikit-image's resize of order 1: MRNet, RAVEN-FAIR)
 *     nearest    the pixel at the upper left of the area (OpenCV's INTER_NEAREST)
 */
export const RESIZERS = ['ours', 'area', 'antialias', 'nearest'] as const;
export type Resizer = (typeof RESIZERS)[number];

/** Pixels of one axis that a new pixel is made of, with their weights, which add up to one. */
type Taps = readonly { readonly from: number; readonly weight: number }[];

const clamped = (index: number, side: number): number => Math.min(Math.max(index, 0), side - 1);

function bilinearTaps(position: number, side: number): Taps {
  const low = Math.floor(position);
  const share = position - low;
  return [
    { from: clamped(low, side), weight: 1 - share },
    { from: clamped(low + 1, side), weight: share },
  ];
}

function areaTaps(start: number, end: number): Taps {
  const taps: { from: number; weight: number }[] = [];
  for (let from = Math.floor(start); from < end - 1e-9; from++) {
    const covered = Math.min(from + 1, end) - Math.max(from, start);
    taps.push({ from, weight: covered / (end - start) });
  }
  return taps;
}

/** The taps of every pixel of an axis. */
function tapsOf(resizer: Resizer, from: number, to: number): Taps[] {
  const factor = from / to;
  return Array.from({ length: to }, (_, i): Taps => {
    switch (resizer) {
      case 'nearest':
        return [{ from: clamped(Math.floor(i * factor), from), weight: 1 }];
      case 'area':
        // An enlarged image has no area to average: it is bilinear, as in OpenCV.
        if (factor > 1) return areaTaps(i * factor, Math.min((i + 1) * factor, from));
        return bilinearTaps((i + 0.5) * factor - 0.5, from);
      case 'ours':
      case 'antialias':
        return bilinearTaps((i + 0.5) * factor - 0.5, from);
    }
  });
}

/** Weights of a Gaussian out to four deviations, which add up to one. */
function gaussian(sigma: number): number[] {
  const radius = Math.floor(4 * sigma + 0.5);
  const weights = Array.from({ length: 2 * radius + 1 }, (_, i) =>
    Math.exp(-((i - radius) ** 2) / (2 * sigma * sigma)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Place of an index beyond the border, mirrored about the border pixel. */
function mirrored(index: number, side: number): number {
  const period = 2 * (side - 1);
  const within = ((index % period) + period) % period;
  return within < side ? within : period - within;
}

/** The Gaussian blur of one axis as taps. */
function blurTaps(side: number, sigma: number): Taps[] {
  const weights = gaussian(sigma);
  const radius = (weights.length - 1) / 2;
  return Array.from({ length: side }, (_, i) =>
    weights.map((weight, k) => ({ from: mirrored(i + k - radius, side), weight })),
  );
}

/** Applies taps to both axes of an image of `side` pixels. */
function applied(image: ArrayLike<number>, side: number, taps: readonly Taps[]): Float64Array {
  const to = taps.length;
  const rows = new Float64Array(side * to);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < to; x++) {
      let sum = 0;
      for (const { from, weight } of taps[x]) sum += weight * image[y * side + from];
      rows[y * to + x] = sum;
    }
  }
  const out = new Float64Array(to * to);
  for (let y = 0; y < to; y++) {
    for (const { from, weight } of taps[y]) {
      for (let x = 0; x < to; x++) out[y * to + x] += weight * rows[from * to + x];
    }
  }
  return out;
}

const known = new Map<
  string,
  { readonly blur?: readonly Taps[]; readonly taps: readonly Taps[] }
>();

/** Resizes a square image of `from` pixels a side to `to`, rounded half up. */
export function resize(
  image: Uint8Array,
  from: number,
  to: number,
  resizer: Resizer = 'ours',
): Uint8Array {
  const key = `${resizer} ${from} ${to}`;
  let plan = known.get(key);
  if (!plan) {
    const sigma = (from / to - 1) / 2;
    const blurs = resizer === 'antialias' && sigma > 0;
    plan = { blur: blurs ? blurTaps(from, sigma) : undefined, taps: tapsOf(resizer, from, to) };
    known.set(key, plan);
  }
  const blurred = plan.blur ? applied(image, from, plan.blur) : image;
  return Uint8Array.from(applied(blurred, from, plan.taps), (value) => Math.floor(value + 0.5));
}
