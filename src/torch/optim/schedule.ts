/**
 * Schedules: a value (a learning rate, a weight of a loss) as a function of the step, written as
 * plain data so that it can stand in a configuration file. Steps count from 0.
 */
import { TorchError } from '../errors.js';

/** The same value throughout. */
export interface ConstantSchedule {
  readonly kind: 'constant';
  readonly value: number;
}

/** A straight line from `from` at step 0 to `to` at step `steps`, constant after. */
export interface LinearSchedule {
  readonly kind: 'linear';
  readonly from: number;
  readonly to: number;
  readonly steps: number;
}

/** Half a cosine from `from` at step 0 to `to` at step `steps`, constant after. */
export interface CosineSchedule {
  readonly kind: 'cosine';
  readonly from: number;
  readonly to: number;
  readonly steps: number;
}

/** Another schedule, scaled up linearly over the first `steps` steps: 1/steps at step 0. */
export interface WarmupSchedule {
  readonly kind: 'warmup';
  readonly steps: number;
  readonly then: Schedule;
}

/** One schedule after the other, each counting its steps from where it starts. */
export interface PiecewiseSchedule {
  readonly kind: 'piecewise';
  /** In order of `start`; the first starts at 0. */
  readonly pieces: readonly { readonly start: number; readonly schedule: Schedule }[];
}

export type Schedule =
  ConstantSchedule | LinearSchedule | CosineSchedule | WarmupSchedule | PiecewiseSchedule;

/** The schedule's value at a step. */
export function scheduleValue(schedule: Schedule, step: number): number {
  switch (schedule.kind) {
    case 'constant':
      return schedule.value;
    case 'linear': {
      const { from, to, steps } = schedule;
      return from + (to - from) * progress(step, steps);
    }
    case 'cosine': {
      const { from, to, steps } = schedule;
      return to + ((from - to) * (1 + Math.cos(Math.PI * progress(step, steps)))) / 2;
    }
    case 'warmup':
      return scheduleValue(schedule.then, step) * progress(step + 1, schedule.steps);
    case 'piecewise': {
      const piece = schedule.pieces.findLast(({ start }) => start <= step);
      if (piece === undefined) throw new TorchError('scheduleValue', `step ${step} < 0`);
      return scheduleValue(piece.schedule, step - piece.start);
    }
  }
}

function progress(step: number, steps: number): number {
  return steps <= 0 ? 1 : Math.min(1, Math.max(0, step / steps));
}

/** Checks a schedule from a configuration file; the error names the place that is wrong. */
export function parseSchedule(value: unknown, place = 'schedule'): Schedule {
  if (typeof value === 'number' && Number.isFinite(value)) return { kind: 'constant', value };
  if (typeof value !== 'object' || value === null) {
    throw problem(place, 'expected a number or an object with a kind');
  }
  const fields = value as Record<string, unknown>;
  switch (fields.kind) {
    case 'constant':
      onlyKeys(fields, ['kind', 'value'], place);
      return { kind: 'constant', value: numberAt(fields, 'value', place) };
    case 'linear':
    case 'cosine':
      onlyKeys(fields, ['kind', 'from', 'to', 'steps'], place);
      return {
        kind: fields.kind,
        from: numberAt(fields, 'from', place),
        to: numberAt(fields, 'to', place),
        steps: stepsAt(fields, 'steps', place),
      };
    case 'warmup':
      onlyKeys(fields, ['kind', 'steps', 'then'], place);
      return {
        kind: 'warmup',
        steps: stepsAt(fields, 'steps', place),
        then: parseSchedule(fields.then, `${place}.then`),
      };
    case 'piecewise':
      onlyKeys(fields, ['kind', 'pieces'], place);
      return { kind: 'piecewise', pieces: parsePieces(fields.pieces, `${place}.pieces`) };
    default:
      throw problem(place, 'kind must be constant, linear, cosine, warmup or piecewise');
  }
}

function parsePieces(value: unknown, place: string): PiecewiseSchedule['pieces'] {
  if (!Array.isArray(value) || value.length === 0) throw problem(place, 'expected a list');
  let previous = -1;
  return value.map((item: unknown, index) => {
    const here = `${place}[${index}]`;
    if (typeof item !== 'object' || item === null) throw problem(here, 'expected an object');
    const fields = item as Record<string, unknown>;
    onlyKeys(fields, ['start', 'schedule'], here);
    const start = stepsAt(fields, 'start', here);
    if (index === 0 ? start !== 0 : start <= previous) {
      throw problem(`${here}.start`, 'starts must begin at 0 and increase');
    }
    previous = start;
    return { start, schedule: parseSchedule(fields.schedule, `${here}.schedule`) };
  });
}

function numberAt(fields: Record<string, unknown>, key: string, place: string): number {
  const value = fields[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw problem(`${place}.${key}`, 'expected a number');
  }
  return value;
}

function stepsAt(fields: Record<string, unknown>, key: string, place: string): number {
  const value = numberAt(fields, key, place);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw problem(`${place}.${key}`, 'expected a whole number of steps');
  }
  return value;
}

function onlyKeys(fields: Record<string, unknown>, known: readonly string[], place: string): void {
  const unknownKey = Object.keys(fields).find((key) => !known.includes(key));
  if (unknownKey !== undefined) {
    throw problem(`${place}.${unknownKey}`, `unknown; known are ${known.join(', ')}`);
  }
}

function problem(place: string, what: string): TorchError {
  return new TorchError('parseSchedule', `${place}: ${what}`);
}
