/** Numbers as results write them. */

export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)}%`;

export const whole = (count: number): string => count.toLocaleString('en-US');
