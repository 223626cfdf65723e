/** Numbers as results write them. */

export const whole = (count: number): string => count.toLocaleString('en-US');

/** Different numbers, each once, from the least on. */
export const rising = (values: Iterable<number>): number[] =>
  [...new Set(values)].sort((a, b) => a - b);

const SMALL_COUNTS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** A count, in words if it is small. */
export const inWords = (count: number): string => SMALL_COUNTS.at(count) ?? String(count);
