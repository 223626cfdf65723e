/** Numbers as people read them. */

export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)}%`;

/** Of files, which everybody counts in MB; the unit is written after the number. */
export const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** Of memory, in GiB. */
export const gibibytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
