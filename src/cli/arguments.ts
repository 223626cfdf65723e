/** Parsers for option values. Each throws an error that names the value and what would be right. */
import { InvalidArgumentError } from 'commander';
import { ArgumentError } from '../base/index.js';
import { DURATION, parseDuration } from '../training/index.js';

/** A whole number within bounds; separators such as 10_000 are accepted. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = /^-?\d[\d_]*$/.test(text) ? Number(text.replaceAll('_', '')) : NaN;
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      const upper = max === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${max}`;
      throw new InvalidArgumentError(`expected a whole number, ${min} ${upper}.`);
    }
    return value;
  };
}

/** A number of any kind within bounds. */
const number =
  (bounds: string, fits: (value: number) => boolean) =>
  (text: string): number => {
    const value = text.trim() === '' ? NaN : Number(text);
    if (Number.isFinite(value) && fits(value)) return value;
    throw new InvalidArgumentError(`expected a number ${bounds}.`);
  };
export const numberFromZero = number('from 0', (value) => value >= 0);
export const numberAboveZero = number('above 0', (value) => value > 0);

/** Seconds of a duration such as 90s, 20m or 1h30m; a plain number is minutes. */
export function duration(most = Infinity, inWords = '') {
  return (text: string): number => {
    const seconds = secondsOf(text);
    if (seconds > most) throw new InvalidArgumentError(`expected at most ${inWords}.`);
    return seconds;
  };
}

function secondsOf(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    throw new InvalidArgumentError(`expected ${DURATION}.`);
  }
}

/** One of a fixed list of words. */
export function oneOf<T extends string>(values: readonly T[]) {
  return (text: string): T => {
    const found = values.find((value) => value === text.toLowerCase());
    if (!found) throw new InvalidArgumentError(`expected one of ${values.join(', ')}.`);
    return found;
  };
}
