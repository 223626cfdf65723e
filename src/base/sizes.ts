/** Sizes as people read them; the unit is written after the number. */

/** Of files, which everybody counts in MB. */
export const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** Of memory, in GiB. */
export const gibibytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
