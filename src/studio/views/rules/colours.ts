/**
 * Colours of rules: a hue for each family, a shade for its parameter. They read on light and dark, and
 * for people who see few colours families also differ in lightness.
 */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/constant/i, '#8a8f98'],
  [/distribute three/i, '#7b5ea7'],
  [/arithmetic.*(-|without)/i, '#a86a00'],
  [/arithmetic/i, '#e0a020'],
  [/progression.*(smaller|lighter|fewer|back)/i, '#0b6b66'],
  [/progression/i, '#34a89b'],
];
const UNKNOWN = '#8a8f98';

export const colourOf = (rule: string): string =>
  FAMILIES.find(([pattern]) => pattern.test(rule))?.[1] ?? UNKNOWN;
