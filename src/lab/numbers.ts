/** Numbers as results write them, and what they are worked out by. */

export const sumOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0);

export const meanOf = (values: readonly number[]): number => sumOf(values) / values.length;

export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)}%`;

export const whole = (count: number): string => count.toLocaleString('en-US');
