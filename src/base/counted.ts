/** A number with what it counts: "1 item", "3 items"; "3 replies" if told how the plural is spelt. */
export const counted = (count: number, what: string, plural = `${what}s`): string =>
  `${count} ${count === 1 ? what : plural}`;
