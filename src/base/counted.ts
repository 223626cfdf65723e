/** A number with what it counts: "1 item", "3 items". */
export const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;
