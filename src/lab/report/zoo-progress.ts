/**
 * How much of a zoo's report is done, from the progress of the current stage of the current model. Stages
 * take different times: we guess their shares at first, and then go by what the first model took.
 */
import type { MetricName } from '../evaluation.js';

/** Stages of one model in their order, with a guess of the time each takes. */
const GUESSES: readonly (readonly [stage: string, weight: number])[] = [
  ['encoding', 1],
  ['sa', 4],
  ['errors', 1],
  ['ari', 1],
  ['vd', 2],
  ['readback', 6],
  ['rules', 2],
  ['gsa', 6],
  ['report', 2],
];
const REPORT = 'report';

export class ZooProgress {
  readonly #measured: readonly boolean[];
  readonly #now: () => number;
  readonly #stages: readonly string[];
  #weights: ReadonlyMap<string, number>;
  #taken = new Map<string, number>();
  #model = 0;
  #since: number;
  #stage: string;
  #told = 0;

  /**
   * @param measured for each model in turn whether it is measured; if not, it is only drawn
   * @param metrics what is measured; all if not told
   * @param now a clock in milliseconds
   */
  constructor(
    measured: readonly boolean[],
    metrics: readonly MetricName[] | undefined,
    now: () => number = () => performance.now(),
  ) {
    const isAsked = (stage: string): boolean =>
      ['encoding', REPORT].includes(stage) || (metrics?.some((name) => name === stage) ?? true);
    this.#measured = measured;
    this.#now = now;
    this.#weights = new Map(GUESSES.filter(([stage]) => isAsked(stage)));
    this.#stages = [...this.#weights.keys()];
    this.#since = now();
    this.#stage = this.#stages[0];
  }

  #sum(stages: readonly string[]): number {
    return stages.reduce((sum, stage) => sum + (this.#weights.get(stage) ?? 0), 0);
  }

  /** What a model takes, in the units of the weights. */
  #costOf(model: number): number {
    return this.#sum(this.#measured[model] ? this.#stages : [REPORT]);
  }

  #note(): void {
    const now = this.#now();
    this.#taken.set(this.#stage, (this.#taken.get(this.#stage) ?? 0) + now - this.#since);
    this.#since = now;
  }

  /** The share of the whole report that is done, given that of a stage of the current model. */
  at(stage: string, share: number): number {
    this.#note();
    this.#stage = stage;
    const own = this.#measured[this.#model] ? this.#stages : [REPORT];
    const before = own.slice(0, Math.max(0, own.indexOf(stage)));
    const done = this.#before(this.#model) + this.#sum(before) + share * this.#sum([stage]);
    return this.#tell(done);
  }

  #before(model: number): number {
    return this.#measured.slice(0, model).reduce((sum, _, each) => sum + this.#costOf(each), 0);
  }

  #tell(done: number): number {
    const whole = this.#before(this.#measured.length);
    // Never go back: a bar that waits is less confusing.
    this.#told = Math.max(this.#told, Math.min(1, done / whole));
    return this.#told;
  }

  /** The current model is done; the others are expected to take as long. */
  next(): number {
    this.#note();
    if (this.#measured[this.#model]) {
      const least = 1e-3 * [...this.#taken.values()].reduce((sum, taken) => sum + taken, 1e-6);
      this.#weights = new Map(
        this.#stages.map((stage) => [stage, Math.max(least, this.#taken.get(stage) ?? 0)]),
      );
    }
    this.#taken = new Map();
    this.#model++;
    return this.#tell(this.#before(this.#model));
  }
}
