/** The parser for durations. It needs `training`, which is slow to load: so it has a file of its own. */
import { InvalidArgumentError } from 'commander';
import { ArgumentError } from '../base/index.js';
import { DURATION, parseDuration } from '../training/index.js';

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
