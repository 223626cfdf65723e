/** Trains or continues a run and reports what the page shows of it. Runs in the trainer process. */
import { crabConfig } from '../../models/index.js';
import {
  train,
  type StepEvent,
  type TrainingObserver,
  type TrainOptions,
} from '../../training/index.js';
import { Previews } from './previews.js';
import type { NewRunJob, Report, ResumeJob, Tell, TrainingSettings } from './protocol.js';

type TrainJob = (NewRunJob | ResumeJob) & { readonly settings: TrainingSettings };

/** Between two reports of steps; there may be hundreds of steps a second. */
const STEP_MS = 250;

/** How often things happen: a person watches, and a computer without a GPU takes a second a step. */
const PACE = {
  cpu: { validation: { every: 50, problems: 100 }, checkpointSeconds: 10, logEvery: 5 },
  cuda: { validation: { every: 250, problems: 500 }, checkpointSeconds: 30, logEvery: 20 },
} as const;

function optionsOf(job: TrainJob): TrainOptions {
  const { settings } = job;
  if (job.kind === 'resume') return { resume: job.run, workers: settings.workers };
  const pace = PACE[job.device.startsWith('cuda') ? 'cuda' : 'cpu'];
  const { configuration, noisy, preset } = job;
  return {
    out: job.run,
    model: crabConfig(preset, configuration, { noisy, overrides: settings.overrides }),
    budget: { kind: 'time', seconds: job.seconds },
    seed: job.seed,
    device: job.device,
    pool: settings.pool,
    threads: settings.threads,
    workers: settings.workers,
    validation: { ...pace.validation, ...settings.validation },
    checkpoints: { seconds: settings.checkpointSeconds ?? pace.checkpointSeconds },
    logEvery: settings.logEvery ?? pace.logEvery,
  };
}

/** Hands on what happens, steps not too often. */
class Reporter implements TrainingObserver {
  #lastStep = -Infinity;

  constructor(
    readonly previews: Previews,
    readonly tell: Tell,
  ) {}

  readonly start: TrainingObserver['start'] = ({ step, totalSteps }) => {
    this.tell({ kind: 'begun', step, totalSteps });
    // A resumed run has something to show at once.
    if (step > 0) this.previews.request();
  };

  readonly step = ({
    step,
    totalSteps,
    terms,
    problemsPerSecond,
    secondsLeft,
  }: StepEvent): void => {
    const now = performance.now();
    if (now - this.#lastStep < STEP_MS && step !== totalSteps) return;
    this.#lastStep = now;
    const data = { step, totalSteps, terms, problemsPerSecond, secondsLeft };
    this.tell({ kind: 'step', data });
  };

  readonly validation: TrainingObserver['validation'] = ({ step, selectionAccuracy }) => {
    this.tell({ kind: 'accuracy', data: { step, accuracy: selectionAccuracy } });
  };

  readonly checkpoint: TrainingObserver['checkpoint'] = () => this.previews.request();

  readonly note: TrainingObserver['note'] = ({ level, text }) => {
    this.tell({ kind: 'note', data: { level, text } });
  };
}

/** Trains until the run is at its end or, told by `signal`, has stored a checkpoint; the last report. */
export async function runTraining(job: TrainJob, tell: Tell, signal: AbortSignal): Promise<Report> {
  const previews = new Previews(job.run, job.settings, tell);
  const outcome = await train(optionsOf(job), new Reporter(previews, tell), signal);
  await previews.settled();
  const { step, totalSteps, finished } = outcome;
  return { kind: 'ended', step, totalSteps, finished };
}
