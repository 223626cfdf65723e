/** `history.json` of a bundle: every curve of a run's metrics log, thinned out evenly. */
import type { MetricsLine } from '../training/index.js';

const MOST_POINTS = 500;

/** Five digits are enough to draw a curve. */
export const rounded = (value: number): number => Number(value.toPrecision(5));

/** Named values of a line of the metrics log. */
function valuesOf(line: MetricsLine): [string, number][] {
  if (line.kind === 'train') return Object.entries(line.terms);
  const shares = Object.entries(line.selectionAccuracy);
  return [
    ...shares.map(([variant, share]): [string, number] => [`sa ${variant}`, share]),
    ['gsa', line.globalSelectionAccuracy ?? NaN],
  ];
}

export function bundleHistory(lines: readonly MetricsLine[]): Uint8Array {
  const curves = new Map<string, { steps: number[]; values: number[] }>();
  for (const line of lines) {
    for (const [name, value] of valuesOf(line)) {
      if (!Number.isFinite(value)) continue;
      const curve = curves.get(name) ?? { steps: [], values: [] };
      curves.set(name, curve);
      curve.steps.push(line.step);
      curve.values.push(rounded(value));
    }
  }
  const thinned = [...curves].map(([name, { steps, values }]) => {
    const every = Math.max(1, Math.ceil(steps.length / MOST_POINTS));
    const kept = (_: number, i: number): boolean => i % every === 0 || i === steps.length - 1;
    return { name, steps: steps.filter(kept), values: values.filter(kept) };
  });
  return new TextEncoder().encode(JSON.stringify({ curves: thinned }));
}

/** Seconds of training until a step. */
export function secondsAt(metrics: readonly MetricsLine[], step: number): number {
  const until = metrics.filter((line) => line.step <= step);
  return Math.round(until.at(-1)?.wall.seconds ?? 0);
}
