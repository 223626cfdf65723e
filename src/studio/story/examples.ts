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
    about:
      'From the one panel that is left CRAB makes up a whole matrix in which rules hold. Many others would do as well; “Another answer” shows some.',
    state: { tab: 'erase', layout: 'center', seed: 369, missing: [1, 2, 3, 4, 6, 7, 8, 9] },
  },
  {
    title: 'Four right answers',
    about:
      'Each row has one, three and four figures, so three are missing in the last panel. No rule says where they stand, and three figures fit into four places in four ways: all four are right.',
    state: { tab: 'erase', layout: 'grid-2x2', seed: 7 },
  },
  {
    title: 'Watch it fail',
    about:
      'The third panel has a figure wherever the first or the second has one. In the first two rows that makes four, and CRAB paints four again; here only three places are filled.',
    state: { tab: 'play', layout: 'grid-2x2', seed: 93, revealed: true },
  },
];

/** The part of an address behind `#` that shows an example. */
export const linkOf = ({ state }: Example): string =>
  writeSettings({ ...readSettings(''), ...state });

/** What decides which matrix is shown, and how much of it is missing. */
const DECIDING = [
  'tab',
  'layout',
  'seed',
  'index',
  'variant',
  'difficulty',
  'missing',
  'constraints',
  'edits',
  'pictures',
] as const;

/** The example that a state of the page shows; undefined if it is none. */
export function exampleAt(settings: Settings): Example | undefined {
  const keyOf = (of: Settings): string => JSON.stringify(DECIDING.map((name) => of[name]));
  return EXAMPLES.find((example) => keyOf(readSettings(linkOf(example))) === keyOf(settings));
}
