/** The tour: four steps over one matrix, each a state of the page. */
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

export interface TourText {
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
    next: 'Erase half of it',
  },
  {
    title: 'Nearly half is gone',
    text: 'Four panels were wiped. CRAB reads the rules from the five that are left. Erase more, or press and hold a painted panel to see what was there.',
    next: 'Bend its rule',
  },
  {
    title: 'Bend its rule',
    text: 'The red dot is a rule that CRAB read. Move it to where another rule lies, and watch the painted panel change.',
    next: 'Done',
  },
];

/** The page at a step, counted from 1. */
export const tourState = (step: number): Settings => ({
  ...readSettings(''),
  ...MATRIX,
  ...STATES[step - 1],
  tour: step,
});
