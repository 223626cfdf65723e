/** One training of a plan. */
export interface PlannedTraining {
  readonly name: string;
  /** Of `crab train`: system, preset and configuration. */
  readonly flags: readonly string[];
  readonly seconds?: number;
  readonly train: readonly string[];
  readonly evaluate?: readonly string[];
  readonly export?: readonly string[];
  readonly pictures?: boolean;
}

export function trainingsOf(plan: readonly object[]): PlannedTraining[];
export function admitted<T extends Pick<PlannedTraining, 'seconds'>>(
  trainings: readonly T[],
  seconds: number,
): T[];
