/** Parsers for option values. Each throws an error that names the value and what would be right. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Device } from '../torch/index.js';
import { UsageError } from './errors.js';

/** A whole number within bounds; separators such as 10_000 are accepted. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = /^-?\d[\d_]*$/.test(text) ? Number(text.replaceAll('_', '')) : NaN;
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
    const upper = max === Number.MAX_SAFE_INTEGER && !(value > max) ? 'or more' : `to ${max}`;
    throw new InvalidArgumentError(`expected a whole number, ${min} ${upper}.`);
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

/**
 * `--no-answers`, as an option of its own. Commander would take it for the opposite of `--answers FILE`,
 * but people want both: sheets without answers, and the answers in a file.
 */
export function noAnswers(description: string): Option {
  const option = new Option('--no-answers', description);
  option.negate = false;
  return option;
}

/**
 * Refuses a text for an option that looks like another option: with `--out --quiet` somebody forgot the
 * path, and Commander would make a folder of that name.
 */
export function refuseOptionsAsValues(command: Command): void {
  for (const option of command.options) {
    if (command.getOptionValueSource(option.attributeName()) !== 'cli') continue;
    const given = [command.getOptionValue(option.attributeName())].flat() as unknown[];
    const texts = given.filter((value) => typeof value === 'string');
    const wrong = texts.find((value) => /^-./.test(value));
    if (wrong === undefined) continue;
    throw new UsageError(
      `${option.long} ${wrong}: a value is missing, or write ./${wrong} if a file is called so`,
    );
  }
}

/** Where libtorch works. */
export function device(text: string): Device {
  if (/^(cpu|cuda(:\d+)?)$/.test(text)) return text as Device;
  throw new InvalidArgumentError('expected cpu, cuda or cuda:n.');
}

/** One of a fixed list of words. */
export function oneOf<T extends string>(values: readonly T[]) {
  return (text: string): T => {
    const found = values.find((value) => value.toLowerCase() === text.toLowerCase());
    if (!found) throw new InvalidArgumentError(`expected one of ${values.join(', ')}.`);
    return found;
  };
}
