/** `history.json`: how a model's losses and accuracy went while it was trained, thinned out. */
import { JsonValue } from './json.js';

export interface HistoryCurve {
  /** What it shows, e.g. `reconstruction`. */
  readonly name: string;
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

const MOST_CURVES = 100;
const MOST_POINTS = 100_000;

export function parseHistory(bytes: Uint8Array): readonly HistoryCurve[] {
  const curves = JsonValue.parse(bytes, 'history.json').get('curves').items(0, MOST_CURVES);
  return curves.map((curve) => {
    const steps = curve.get('steps').items(0, MOST_POINTS);
    return {
      name: curve.get('name').text(100),
      steps: steps.map((step) => step.integer(0, Number.MAX_SAFE_INTEGER)),
      values: curve.get('values').numbers(steps.length),
    };
  });
}
