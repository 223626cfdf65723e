/** The colours of printed matrices, in pictures and in SVG alike. */

type Rgb = readonly [red: number, green: number, blue: number];

export const SHEET_COLOURS = {
  ink: [38, 38, 38],
  muted: [128, 128, 128],
  hairline: [196, 196, 196],
  /** Marks the answer, and what a model imagined. */
  accent: [0, 122, 94],
} as const satisfies Readonly<Record<string, Rgb>>;

/** As SVG writes it: `#007a5e`. */
export const hexOf = (colour: Rgb): string =>
  `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
