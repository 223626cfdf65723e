/** Shows a training on standard error while it runs, and sums it up at its end. */
import { counted, percent } from '../base/index.js';
import type {
  StepEvent,
  TrainingObserver,
  TrainOutcome,
  ValidationEvent,
} from '../training/index.js';
import { formatRate, startProgress, type Progress } from './progress.js';

/** The terms worth a look while training, by short names. */
const SHORT_NAMES: Record<string, string> = {
  reconstruction: 'rec',
  ruleRegularizer: 'rule',
  targetRegularizer: 'target',
};

/** A line of its own, in place of a bar that may stand there. */
function say(text: string): void {
  process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${text}\n`);
}

/** Shows a training on standard error. */
export class Display implements TrainingObserver {
  #progress: Progress | null = null;
  #run = '';
  #lastStep: StepEvent | null = null;
  #lastValidation: ValidationEvent | null = null;

  constructor(readonly quiet: boolean) {}

  readonly start: TrainingObserver['start'] = (event) => {
    this.#run = event.run;
    this.#progress = startProgress(event.totalSteps, 'steps', this.quiet, event.step);
    const size = `${(event.parameters / 1e6).toFixed(1)} million weights`;
    const from = event.step > 0 ? ` from step ${event.step}` : '';
    const ranks = event.ranks > 1 ? ` with ${event.ranks} processes` : '';
    if (!this.quiet) say(`${event.run}: ${size} on ${event.device}${ranks}${from}`);
  };

  readonly step: TrainingObserver['step'] = (event) => {
    this.#lastStep = event;
    if (this.#progress !== null) this.#progress.total = event.totalSteps;
    // Validations to come are in the training's own estimate alone.
    const left = event.secondsLeft ?? undefined;
    this.#progress?.update(event.step, this.#noteOf(event), left);
  };

  readonly validation: TrainingObserver['validation'] = (event) => {
    this.#lastValidation = event;
  };

  readonly note: TrainingObserver['note'] = ({ level, text }) => {
    if (level === 'warning' || !this.quiet) say(text);
  };

  #noteOf({ terms, problemsPerSecond }: StepEvent): string {
    const parts = Object.entries(SHORT_NAMES)
      .filter(([term]) => terms[term] !== undefined)
      .map(([term, name]) => `${name} ${terms[term].toPrecision(3)}`);
    const rate = `${formatRate(problemsPerSecond)} problems/s`;
    const judged = this.#lastValidation;
    const accuracy =
      judged === null ? '' : ` SA ${percent(judged.selectionAccuracy.raven)}${gsaOf(judged)}`;
    return `| ${parts.join(' ')}${accuracy} | ${rate}`;
  }

  stop(): void {
    this.#progress?.stop();
    this.#progress = null;
  }

  report(outcome: TrainOutcome): object {
    const { selectionAccuracy, globalSelectionAccuracy } = this.#lastValidation ?? {};
    return {
      ...outcome,
      terms: this.#lastStep?.terms ?? null,
      selectionAccuracy: selectionAccuracy ?? null,
      globalSelectionAccuracy: globalSelectionAccuracy ?? null,
      problemsPerSecond: this.#lastStep?.problemsPerSecond ?? null,
      feed: this.#lastStep?.feed ?? null,
    };
  }

  summary({ run, step, finished, best }: TrainOutcome): string {
    if (!finished)
      return `stopped after ${counted(step, 'step')}; continue with: crab train --resume ${run}`;
    const score = best === null ? '' : `, best ${percent(best.score)} at step ${best.step}`;
    const feed = this.#lastStep?.feed;
    const cost = feed
      ? `; a problem was used ${feed.uses.toFixed(1)} times, the feed took ${percent(feed.share)} of the time`
      : '';
    return `${this.#run}: ${counted(step, 'step')}${score}${cost}`;
  }
}

/** Systems that answer for the last panel only have none. */
const gsaOf = ({ globalSelectionAccuracy: share }: ValidationEvent): string =>
  share === null ? '' : ` GSA ${percent(share)}`;
