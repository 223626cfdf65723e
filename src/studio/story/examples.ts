/** Matrices worth a look, each a link. A test solves every one of them and sees that it shows what it says. */
import { readSettings, writeSettings, type Settings } from '../state/settings.js';

export interface Example {
  readonly title: string;
  readonly about: string;
  readonly state: Partial<Settings>;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: 'One panel left, eight painted',
    about: 'From a single panel CRAB makes up a whole matrix, and rules that hold in it.',
    state: { tab: 'erase', layout: 'center', seed: 1, missing: [1, 2, 3, 4, 6, 7, 8, 9] },
  },
  {
    title: 'Four right answers',
    about: 'The rule says how many figures there are, not where. “Another answer” shows all four.',
    state: { tab: 'erase', layout: 'grid-2x2', seed: 7 },
  },
  {
    title: 'Watch it fail',
    about: 'CRAB is certain of its choice, and wrong.',
    state: { tab: 'play', layout: 'grid-3x3', seed: 128, revealed: true },
  },
];

/** The part of an address behind `#` that shows an example. */
export const linkOf = ({ state }: Example): string =>
  writeSettings({ ...readSettings(''), ...state });
