/**
 * Weights as 8-bit whole numbers with one scale for each output channel: value = scale * q, q in
 * -127..127. The scale of a channel is the one, among shrunken ones too, with the least squared error:
 * clipping a far outlier can cost less than coarse steps for all others.
 */

interface Quantized {
  readonly values: Int8Array;
  /** One for each channel. */
  readonly scales: Float32Array;
}

const LARGEST = 127;
const SHRINKS = [1, 0.95, 0.9, 0.85, 0.8];

function quantizeInto(row: Float32Array, scale: number, out: Int8Array): number {
  let error = 0;
  for (let i = 0; i < row.length; i++) {
    const q = Math.max(-LARGEST, Math.min(LARGEST, Math.round(row[i] / scale)));
    out[i] = q;
    error += (row[i] - q * scale) ** 2;
  }
  return error;
}

/** Weights [channels, ...] in row-major order. */
export function quantizeChannels(weights: Float32Array, channels: number): Quantized {
  const width = weights.length / channels;
  const values = new Int8Array(weights.length);
  const scales = new Float32Array(channels);
  const trial = new Int8Array(width);
  for (let c = 0; c < channels; c++) {
    const row = weights.subarray(c * width, (c + 1) * width);
    const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    let best = Infinity;
    scales[c] = 1;
    if (largest === 0) continue;
    for (const shrink of SHRINKS) {
      const scale = Math.fround((largest * shrink) / LARGEST);
      const error = quantizeInto(row, scale, trial);
      if (error >= best) continue;
      best = error;
      scales[c] = scale;
      values.set(trial, c * width);
    }
  }
  return { values, scales };
}
