/** The tour: four steps over one matrix, each a state of the page. */
import type { BendView } from '../engine/protocol.js';
import { readSettings, type Settings } from '../state/settings.js';

/** Along each row one thing changes, in clear steps; half erased it is still painted right. */
const MATRIX = { layout: 'center', seed: 57, difficulty: 'gentle' } as const;
const HALF = [1, 3, 5, 9] as const;

const STATES: readonly Partial<Settings>[] = [
  { tab: 'play' },
  { tab: 'play', revealed: true },
  { tab: 'erase', missing: HALF },
  { tab: 'rules' },
];

interface TourText {
  readonly title: string;
  readonly text: string;
  readonly next: string;
}

export const TEXTS: readonly TourText[] = [
  {
    title: 'Your turn first',
    text: 'Look along each row: one thing changes in equal steps, the rest stays. Which candidate belongs in the empty place? Choose one.',
    next: 'Show me',
  },
  {
    title: 'It paints the panel',
    text: 'CRAB never looked at the candidates. It painted panel 9 from the other eight, and then chose what is closest to it.',
    next: 'Erase three more',
  },
  {
    title: 'Four panels are gone',
    text: 'CRAB reads the rules from the five that are left, and paints the four in red frames. Erase more, or press and hold a painted panel to see what was there.',
    next: 'Bend its rule',
  },
  {
    title: 'Bend its rule',
    text: 'The red dot is a rule that CRAB read here, every other point one that it read in another matrix. Move the red dot to another rule, and watch the painted panel change.',
    next: 'Done',
  },
];

/** What the last step says of the rule at hand, before and after it is moved. */
export function bendWords({ from, to }: BendView, isMoved: boolean): string {
  const { subject, attribute, rule, meaning } = to;
  if (!isMoved) {
    return `Every point is a rule that CRAB read in some matrix; points close together are rules that are alike. The red dot is the rule it read here for ${subject.toLowerCase()}: ${from}. Move it to ${rule} (${meaning}), and watch the painted panel.`;
  }
  const isNothingLeft = attribute === 'Color' && from === 'constant' && rule === 'arithmetic −';
  const why = isNothingLeft
    ? ' Both panels before it are equally dark: one minus the other leaves nothing, and nothing is white.'
    : '';
  return `The rule is now ${rule} (${meaning}), and CRAB paints what it asks for.${why} Drag the dot to any other rule.`;
}

/** The page at a step, counted from 1. */
export const tourState = (step: number): Settings => ({
  ...readSettings(''),
  ...MATRIX,
  ...STATES[step - 1],
  tour: step,
});

/** What a step of the tour speaks of; more may be erased and bent meanwhile. */
const SPOKEN_OF = [
  'tab',
  'layout',
  'model',
  'seed',
  'index',
  'variant',
  'difficulty',
  'constraints',
  'edits',
  'pictures',
] as const satisfies readonly (keyof Settings)[];

/** Settings of a link; one that asks for the tour gets the matrix that the tour speaks of. */
export function withTourMatrix(settings: Settings): Settings {
  if (settings.tour === 0) return settings;
  const wanted = tourState(settings.tour);
  const isThere = SPOKEN_OF.every((name) => settings[name] === wanted[name]);
  return isThere ? settings : { ...wanted, backend: settings.backend };
}
