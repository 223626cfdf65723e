/** Whether a person wants nothing on the page to move. */
export const isCalm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;
