/** The tour: four steps over one matrix, each a state of the page. */
import type { PlaneView, RuleView } from '../engine/protocol.js';
import { readSettings, type Settings } from '../state/settings.js';

/** A matrix whose shape, size and colour follow three different rules; half erased it is still painted right. */
const MATRIX = { layout: 'center', seed: 1 } as const;
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
    text: 'Shape, size and colour each follow a rule of their own. Which candidate completes the matrix? Choose one.',
    next: 'Show me',
  },
  {
    title: 'It paints the panel',
    text: 'CRAB never looked at the candidates. It painted panel 9 from the other eight, and then chose what is closest to it.',
    next: 'Erase half of it',
  },
  {
    title: 'Half is gone',
    text: 'Four panels were wiped. CRAB reads the rules from the five that are left. Erase more, or press and hold a painted panel to see what was there.',
    next: 'Bend its rule',
  },
  {
    title: 'Bend its rule',
    text: 'The red dot is the rule it read for this concept. Move it to where another rule lies, and watch the painted panel change.',
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

/** The point furthest from a rule among those of other rules: where to bend it to. */
export function otherRule(plane: PlaneView, { vector, words }: RuleView): [number, number] | null {
  const points = plane.moments.at(-1) ?? new Float32Array();
  let best: [number, number] | null = null;
  let most = 0;
  for (let n = 0; n < points.length / 2; n++) {
    const point: [number, number] = [points[2 * n], points[2 * n + 1]];
    const away = Math.hypot(point[0] - vector[0], point[1] - vector[1]);
    const isOther = plane.classes[plane.classOf[n]]?.rule !== words?.rule;
    if (isOther && away > most) [best, most] = [point, away];
  }
  return best;
}
