/**
 * The errors of this layer. Wrong use (a flag, a path, two that do not go together) is base's
 * `ArgumentError`; the classes here are what can go wrong while a correct request is carried out.
 */
import { counted, CrabError } from '../base/index.js';

/** Base class: `instanceof TrainingError` tells a foreseen failure from a defect of ours. */
export class TrainingError extends CrabError {
  override name = 'TrainingError';
}

/** A run folder whose files are damaged, missing, or from another version. */
export class RunFormatError extends TrainingError {
  override name = 'RunFormatError';
}

/** A loss term became NaN or infinite; the last good checkpoint is kept. */
export class DivergedError extends TrainingError {
  override name = 'DivergedError';

  constructor(
    /** The step (0-based) whose loss was first not finite. */
    readonly step: number,
    /** The first term that was not finite. */
    readonly term: string,
    readonly value: number,
    /** The step of the newest checkpoint on disk, or null when there is none. */
    readonly checkpointStep: number | null,
  ) {
    const kept =
      checkpointStep === null
        ? 'no checkpoint had been written yet'
        : `the checkpoint of step ${checkpointStep} is kept`;
    super(`training diverged at step ${step}: the term ${term} became ${value}; ${kept}`);
  }
}

/** What a run did last could not be written before it was given up. */
export class UnsavedError extends TrainingError {
  override name = 'UnsavedError';

  constructor(
    run: string,
    /** Steps that were done. */
    readonly step: number,
    /** The step of the newest checkpoint on disk, or null when there is none. */
    readonly checkpointStep: number | null,
    /** Why it could not be written. */
    cause: Error,
  ) {
    const saved = checkpointStep ?? 0;
    const lost = saved < step ? `steps ${saved + 1} to ${step}` : 'the last lines of the logs';
    const from = saved === 0 ? 'from the start' : `from step ${saved}`;
    super(
      `${run}: ${lost} could not be saved (${cause.message}) and are lost; make room and go on ${from} with: crab train --resume ${run}`,
      { cause },
    );
  }
}

/** Another rank of a run died, hung or could not be reached; the last good checkpoint is kept. */
export class LostRankError extends TrainingError {
  override name = 'LostRankError';

  constructor(
    readonly rank: number,
    readonly size: number,
    /** Steps this rank had done. */
    readonly step: number,
    reason: string,
    /** The run's folder, if this rank knows it. */
    run: string | null,
    options?: ErrorOptions,
  ) {
    const restart = run === null ? '' : `; continue with: crab train --resume ${run}`;
    super(
      `rank ${rank} of ${size} lost another rank after ${counted(step, 'step')} (${reason})${restart}`,
      options,
    );
  }
}

/** A thread that makes problems failed. */
export class WorkerError extends TrainingError {
  override name = 'WorkerError';
}
