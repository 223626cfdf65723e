/**
 * The errors of this layer. Wrong use (a flag, a path, two that do not go together) is matrix's
 * `ArgumentError`; the classes here are what can go wrong while a correct request is carried out.
 */

/** Base class: `instanceof TrainingError` tells a foreseen failure from a defect of ours. */
export class TrainingError extends Error {
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

/** A failure of one of the threads that make problems or fit the rule prior. */
export class WorkerError extends TrainingError {
  override name = 'WorkerError';
}
