/** The curves of a run, of bounded length: when they grow too long, every other point is left out. */
import type { MetricsLine } from '../../training/index.js';
import type { AccuracyPoint, RunHistory, StepPoint } from '../../protocol/index.js';

/** Points sent of each curve. */
const MOST_SENT = 1000;

/** Of a list too long, every n-th and the last. */
export function thinned<T>(points: readonly T[], most = MOST_SENT): T[] {
  const every = Math.ceil(points.length / most);
  return points.filter((_, i) => (points.length - 1 - i) % Math.max(1, every) === 0);
}

export class Curves {
  #steps: StepPoint[] = [];
  #validations: AccuracyPoint[] = [];

  /** Curves of what the log of a run says. */
  static of(lines: readonly MetricsLine[]): Curves {
    const curves = new Curves();
    for (const line of lines) {
      const { step } = line;
      if (line.kind === 'train') curves.#steps.push({ step, terms: line.terms });
      else curves.#validations.push({ step, accuracy: line.selectionAccuracy });
    }
    return curves;
  }

  /** A run continued from an earlier checkpoint takes its later steps again. */
  rewindTo(step: number): void {
    this.#steps = this.#steps.filter((point) => point.step <= step);
    this.#validations = this.#validations.filter((point) => point.step <= step);
  }

  addStep({ step, terms }: StepPoint): void {
    this.#steps.push({ step, terms });
    if (this.#steps.length >= 4 * MOST_SENT) this.#steps = thinned(this.#steps, 2 * MOST_SENT);
  }

  addValidation({ step, accuracy }: AccuracyPoint): void {
    this.#validations.push({ step, accuracy });
    if (this.#validations.length >= 4 * MOST_SENT) {
      this.#validations = thinned(this.#validations, 2 * MOST_SENT);
    }
  }

  get lastAccuracy(): Readonly<Record<string, number>> | null {
    return this.#validations.at(-1)?.accuracy ?? null;
  }

  history(run: string): RunHistory {
    return { run, steps: thinned(this.#steps), validations: thinned(this.#validations) };
  }
}
