/**
 * The training loop: steps in blocks, and what happens between blocks (log lines, validation, rule
 * snapshots, checkpoints). It knows nothing of tensors: what a step computes, how a model is judged
 * and where things are stored is up to the training it is given, so that its promises can be tested alone.
 *
 * A block ends wherever something is due, so everything that happens depends on step numbers alone,
 * except checkpoints by the clock, which do not influence results. The first steps of a time budget
 * are done without knowing their total even if a resumed run knows it, so that they are the same.
 * The values of the loss are read when a block ends: on a GPU the host must not wait for every step.
 */
import { SpeedMeasurement, stepsOfTime } from './budget.js';
import type { RunConfig } from './config.js';
import { DivergedError } from './errors.js';
import type { LoopState } from './loop-state.js';
import type { FeedReport, TrainingObserver } from './observer.js';
import type { Team } from './parallel/team.js';
import type { TrainMetrics, ValidationMetrics } from './run/logs.js';
import type { Stepper } from './step/stepper.js';

/** Loss terms of steps, [steps, terms]. */
export type TermValues = Float32Array | Float64Array;

/** Accuracies of a model on validation problems. */
export interface Judgement {
  /** Among candidates, by variant. */
  readonly selectionAccuracy: Readonly<Record<string, number>>;
  /** Among panels of other problems, at any position; null for systems that answer for the last panel only. */
  readonly globalSelectionAccuracy: number | null;
}

/** A training as the loop sees it: `TrainingSession`, or a made-up one in tests. */
export interface Training {
  readonly config: RunConfig;
  readonly stepper: Pick<
    Stepper,
    'terms' | 'blockSteps' | 'begin' | 'step' | 'finish' | 'isFinite' | 'learningRateAt'
  >;
  readonly observer: TrainingObserver;
  /** The ranks that decide as one; absent in a run of one process, which may stop in the middle of a block. */
  readonly agreement?: Pick<Team, 'anyOf' | 'firstOf'>;
  /** Number of problems that make one epoch. */
  readonly epochSize: number;
  /** What the feed has cost since the last call. */
  feedReport(samples: number, steps: number, seconds: number): FeedReport;
  validate(): Promise<Judgement>;
  /** Remembers the present weights as the best. */
  keepBest(step: number): void;
  snapshotRules(step: number): Promise<void>;
  /** Adds a line to the logs. */
  log(line: TrainMetrics | ValidationMetrics): void;
  /** Asks for a checkpoint of the present state. */
  checkpoint(state: LoopState): void;
  /** The number of steps has become known; schedules use it from step `from` on. */
  fixTotal(totalSteps: number, from: number): void;
  /** Lets writing go on, and waits for it if that costs nothing; never throws. */
  flush(): Promise<void>;
  /** Step of the newest checkpoint on disk, or null. */
  readonly checkpointOnDisk: number | null;
  now(): number;
  /** When this process began to work on the run, by `now`: making ready is part of a time budget too. */
  readonly startedAt: number;
}

/** The name of the weighted sum of all other terms. */
const WHOLE_LOSS = 'loss';

/** Share of a time budget left to checkpoints, logs and ending. */
const RESERVED = 0.03;

/** Where a run of a time budget does not tell from which step on its length was known. */
const USUALLY_KNOWN_FROM = 30;

export class TrainingLoop {
  readonly #training: Training;
  readonly #state: LoopState;
  readonly #config: RunConfig;
  readonly #startSeconds: number;
  /** Of a time budget: while its number of steps is not known. */
  #measurement: SpeedMeasurement | null = null;
  /** The step from which on the number of steps counts as known. */
  #totalKnownFrom = 0;
  #lastCheckpoint: number;
  #checkpointStep: number;
  /** Time and steps since the last line, without validation and the like. */
  #speed = { steps: 0, seconds: 0 };
  #secondsPerStep = 0;
  #validationSeconds = 0;
  #feed: FeedReport | null = null;

  constructor(training: Training, state: LoopState) {
    this.#training = training;
    this.#config = training.config;
    this.#state = state;
    this.#startSeconds = training.startedAt - state.seconds;
    const { budget, totalKnownFrom } = training.config;
    if (budget.kind === 'time') {
      this.#totalKnownFrom = totalKnownFrom ?? USUALLY_KNOWN_FROM;
      if (state.totalSteps === null) {
        this.#measurement = new SpeedMeasurement(state.step, training.stepper.blockSteps);
      }
    }
    this.#lastCheckpoint = training.now();
    this.#checkpointStep = state.step;
  }

  /** Trains until the end or until `signal` aborts; returns whether the end was reached. */
  async run(signal?: AbortSignal): Promise<boolean> {
    const state = this.#state;
    if (state.step === 0) await this.#snapshotIfDue();
    while (state.totalSteps === null || state.step < state.totalSteps) {
      if (this.#mustStop(signal)) break;
      await this.#block(this.#blockLength(), signal);
      await this.#betweenBlocks();
      await this.#training.flush();
    }
    const ended = state.totalSteps !== null && state.step >= state.totalSteps;
    this.#checkpoint();
    return ended;
  }

  /** All ranks stop before the same step, whichever of them was told to. */
  #mustStop(signal?: AbortSignal): boolean {
    const told = signal?.aborted ?? false;
    return this.#training.agreement?.anyOf(told) ?? told;
  }

  /** The number of steps of the run as it is known when step `step` (from 0) begins. */
  #totalAt(step: number): number | null {
    return step < this.#totalKnownFrom ? null : this.#state.totalSteps;
  }

  #blockLength(): number {
    const { step } = this.#state;
    const { logEvery, validation, checkpoints } = this.#config;
    const untilMultiple = (every: number): number => every - (step % every);
    const fixed = [...this.#snapshotSteps(), ...this.#timeMarks(), this.#totalAt(step) ?? Infinity];
    return Math.min(
      this.#training.stepper.blockSteps,
      untilMultiple(logEvery),
      untilMultiple(validation.every),
      checkpoints.steps === null ? Infinity : untilMultiple(checkpoints.steps),
      ...fixed.filter((at) => at > step).map((at) => at - step),
    );
  }

  /** Steps after which rules are stored; fractions of the run are known once its length is. The end is one of them. */
  #snapshotSteps(): number[] {
    const totalSteps = this.#totalAt(this.#state.step);
    const { moments, steps, problems } = this.#config.snapshots;
    if (problems === 0) return [];
    if (totalSteps === null) return [...steps];
    return [...steps, ...moments.map((moment) => Math.round(moment * totalSteps)), totalSteps];
  }

  async #snapshotIfDue(): Promise<void> {
    const { step } = this.#state;
    if (this.#snapshotSteps().includes(step)) await this.#training.snapshotRules(step);
  }

  #timeMarks(): number[] {
    if (this.#measurement === null) return [this.#totalKnownFrom];
    const { from, least, full } = this.#measurement;
    return [from, least, full];
  }

  /** Whether a time budget learns its number of steps now, or did so here before it was resumed. */
  #isLengthDecided(): boolean {
    const { budget } = this.#config;
    const { step } = this.#state;
    if (budget.kind !== 'time') return false;
    if (this.#measurement === null) return step === this.#totalKnownFrom;
    const { least, full } = this.#measurement;
    if (step !== least || least === full) return step === full;
    const own = this.#measurement.isTooLong(budget.seconds) ? 1 : 0;
    return (this.#training.agreement?.firstOf(own) ?? own) === 1;
  }

  async #block(length: number, signal?: AbortSignal): Promise<void> {
    const { stepper, agreement } = this.#training;
    const state = this.#state;
    const first = state.step;
    const start = this.#training.now();
    stepper.begin(first, this.#totalAt(first));
    let done = 0;
    while (done < length && (agreement !== undefined || !signal?.aborted)) {
      await stepper.step(first + done);
      done++;
    }
    const values = await stepper.finish(done);
    this.#timed(first, done, this.#training.now() - start);
    this.#addTerms(first, done, values);
    state.step = first + done;
    this.#reportStep(values, done);
  }

  #timed(first: number, steps: number, seconds: number): void {
    this.#speed.steps += steps;
    this.#speed.seconds += seconds;
    this.#measurement?.add(first, steps, seconds);
    const recent = seconds / Math.max(steps, 1);
    // A slowly moving mean, so that the time left does not jump.
    this.#secondsPerStep =
      this.#secondsPerStep === 0 ? recent : 0.8 * this.#secondsPerStep + 0.2 * recent;
  }

  #addTerms(first: number, count: number, values: TermValues): void {
    const { terms } = this.#training.stepper;
    const { interval } = this.#state;
    for (let n = 0; n < count; n++) {
      const row = values.subarray(n * terms.length, (n + 1) * terms.length);
      this.#requireFiniteTerms(first + n, row);
      terms.forEach((term, index) => {
        interval.terms[term] = (interval.terms[term] ?? 0) + row[index];
      });
      interval.steps++;
    }
  }

  /** Names the part of the loss that went wrong: the loss itself goes with any of them. */
  #requireFiniteTerms(step: number, row: TermValues): void {
    const { terms } = this.#training.stepper;
    const wrong = terms.filter((_, index) => !Number.isFinite(row[index]));
    if (wrong.length === 0) return;
    const blamed = wrong.find((term) => term !== WHOLE_LOSS) ?? WHOLE_LOSS;
    this.#diverged(step, blamed, row[terms.indexOf(blamed)]);
  }

  #diverged(step: number, term: string, value: number): never {
    throw new DivergedError(step, term, value, this.#training.checkpointOnDisk);
  }

  #requireFinite(): void {
    if (!this.#training.stepper.isFinite()) this.#diverged(this.#state.step - 1, 'weights', NaN);
  }

  #reportStep(values: TermValues, done: number): void {
    if (done === 0) return;
    const { terms } = this.#training.stepper;
    const { step, totalSteps } = this.#state;
    const newest = values.subarray((done - 1) * terms.length, done * terms.length);
    const perStep = this.#secondsPerStep + this.#validationSeconds / this.#config.validation.every;
    this.#training.observer.step?.({
      step,
      totalSteps,
      terms: Object.fromEntries(terms.map((term, index) => [term, newest[index]])),
      problemsPerSecond: this.#config.model.optimizer.batchSize / this.#secondsPerStep,
      secondsLeft: totalSteps === null ? this.#timeLeft() : (totalSteps - step) * perStep,
      feed: this.#feed,
    });
  }

  /** Of a time budget, while the number of steps is not known; null if measuring has used it up. */
  #timeLeft(): number | null {
    const { budget } = this.#config;
    const left = budget.kind === 'time' ? budget.seconds - this.#seconds() : 0;
    return left > 0 ? left : null;
  }

  #seconds(): number {
    return this.#training.now() - this.#startSeconds;
  }

  async #betweenBlocks(): Promise<void> {
    const state = this.#state;
    const { logEvery, validation, checkpoints } = this.#config;
    const decided = this.#isLengthDecided();
    // The measurement may find that nothing is left, so it leaves what an end does.
    const atEnd = state.step === state.totalSteps || decided;
    if (state.step % logEvery === 0 || atEnd) this.#logInterval();
    if (state.step % validation.every === 0 || atEnd) await this.#validate();
    if (decided && this.#measurement !== null) this.#fixTotal(this.#measurement);
    if (this.#isOutOfPatience()) this.#endHere();
    await this.#snapshotIfDue();
    const bySteps = checkpoints.steps !== null && state.step % checkpoints.steps === 0;
    const byClock = this.#training.now() - this.#lastCheckpoint >= checkpoints.seconds;
    if (bySteps || byClock) this.#checkpoint();
  }

  #logInterval(): void {
    const { interval, step } = this.#state;
    if (interval.steps === 0) return;
    const { batchSize } = this.#config.model.optimizer;
    const { steps, seconds } = this.#speed;
    const feed = this.#training.feedReport(step * batchSize, steps, seconds);
    this.#feed = feed;
    const means = Object.entries(interval.terms).map(([term, sum]) => [term, sum / interval.steps]);
    this.#training.log({
      kind: 'train',
      step,
      epoch: (step * batchSize) / this.#training.epochSize,
      learningRate: this.#training.stepper.learningRateAt(step - 1, this.#totalAt(step - 1)),
      terms: Object.fromEntries(means) as Record<string, number>,
      wall: {
        seconds: this.#seconds(),
        problemsPerSecond: (steps * batchSize) / seconds,
        feedMilliseconds: feed.milliseconds,
        feedShare: feed.share,
        uses: feed.uses,
      },
    });
    this.#state.interval = { steps: 0, terms: {} };
    this.#speed = { steps: 0, seconds: 0 };
  }

  async #validate(): Promise<void> {
    this.#requireFinite();
    const start = this.#training.now();
    const judgement = await this.#training.validate();
    this.#validationSeconds = this.#training.now() - start;
    const { step } = this.#state;
    const score = this.#scoreOf(judgement);
    const before = this.#state.best?.score ?? 0;
    // Among scores that so many problems cannot tell apart the later weights are the better trained.
    const error = Math.sqrt((before * (1 - before)) / this.#config.validation.problems);
    const best = this.#state.best === null || score >= before - error;
    const risen = score > before ? step : (this.#state.best?.risen ?? step);
    if (best) {
      this.#state.best = { step, score: Math.max(score, before), risen };
      this.#training.keepBest(step);
    }
    const { selectionAccuracy, globalSelectionAccuracy } = judgement;
    const seconds = this.#seconds();
    this.#training.log({
      kind: 'validation',
      step,
      selectionAccuracy,
      globalSelectionAccuracy,
      best,
      wall: { seconds },
    });
    this.#training.observer.validation?.({
      step,
      selectionAccuracy,
      globalSelectionAccuracy,
      best,
      seconds: this.#validationSeconds,
    });
  }

  #scoreOf({ selectionAccuracy, globalSelectionAccuracy }: Judgement): number {
    return this.#config.validation.criterion === 'selection-accuracy'
      ? selectionAccuracy.raven
      : (globalSelectionAccuracy ?? selectionAccuracy.raven);
  }

  /** Whether validations have gone without a higher score for as long as the run allows. */
  #isOutOfPatience(): boolean {
    const { every, patience } = this.#config.validation;
    const { best, step, totalSteps } = this.#state;
    if (patience === undefined || best === null || step === totalSteps) return false;
    return step - best.risen >= patience * every;
  }

  /** Makes this step the last one. */
  #endHere(): void {
    this.#logInterval();
    this.#state.totalSteps = this.#state.step;
    const { risen } = this.#state.best!;
    const text = `no better validation since step ${risen}: the training ends`;
    this.#training.observer.note?.({ level: 'info', text });
  }

  #fixTotal({ secondsPerStep }: SpeedMeasurement): void {
    const { budget, validation } = this.#config;
    if (budget.kind !== 'time') return;
    const withValidation = secondsPerStep + this.#validationSeconds / validation.every;
    const { step } = this.#state;
    const elapsed = this.#seconds();
    const own = stepsOfTime(budget.seconds, elapsed, step, withValidation, RESERVED);
    const total = this.#training.agreement?.firstOf(own) ?? own;
    this.#state.totalSteps = total;
    this.#totalKnownFrom = step;
    this.#measurement = null;
    this.#training.fixTotal(total, step);
  }

  #checkpoint(): void {
    if (this.#checkpointStep === this.#state.step) return;
    this.#requireFinite();
    this.#checkpointStep = this.#state.step;
    this.#state.seconds = this.#seconds();
    this.#training.checkpoint(this.#state);
    this.#lastCheckpoint = this.#training.now();
  }
}
