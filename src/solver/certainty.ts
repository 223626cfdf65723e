/**
 * How sure a painted panel is, attribute by attribute: the probability of all entries that have the painted
 * value. What follows no rule, such as an angle, does not count. Of figures on a grid it is told apart how
 * many there are and where, because a rule may leave one of the two open.
 */
import { productOf } from '../base/index.js';
import { maskSlots, type RuleAttribute } from '../matrix/index.js';
import { alikeInWords } from './alternatives.js';
import type { ImaginedPanel } from './questions.js';
import type { Foretold, NamedAttribute, Vocabulary } from './vocabulary.js';

export interface AttributeCertainty {
  readonly component: number;
  readonly attribute: RuleAttribute;
  /** Of the painted value, 0..1. */
  readonly probability: number;
}

/** The probability of all entries that are the same as the likeliest one. */
function shareOf(
  { probabilities, best, known }: Foretold,
  isSame: (entry: number, best: number) => boolean,
): number {
  if (!known) return 0;
  return probabilities.reduce((sum, each, entry) => (isSame(entry, best) ? sum + each : sum), 0);
}

function ofAttribute(
  { component, group, values }: NamedAttribute,
  foretold: Foretold,
): AttributeCertainty[] {
  const keys = values.map((each) => each.join());
  const whole = shareOf(foretold, (entry, best) => keys[entry] === keys[best]);
  if (group !== 'Number/Position') return [{ component, attribute: group, probability: whole }];
  const counts = values.map(([set]) => maskSlots(set).length);
  const number = shareOf(foretold, (entry, best) => counts[entry] === counts[best]);
  return [
    { component, attribute: 'Number', probability: number },
    // Where they are, given how many.
    { component, attribute: 'Position', probability: number === 0 ? 0 : whole / number },
  ];
}

export function panelCertainty(
  { groups }: Vocabulary,
  { foretold }: ImaginedPanel,
): AttributeCertainty[] {
  return groups.flatMap(({ attributes }, g) =>
    attributes.flatMap((attribute) => ofAttribute(attribute, foretold[g])),
  );
}

/** How likely it is that all painted panels have the right values, of everything that people tell apart. */
export function answerProbability(
  { groups }: Vocabulary,
  imagined: readonly ImaginedPanel[],
): number {
  const alike = groups.map(alikeInWords);
  const shares = imagined.flatMap(({ foretold }) =>
    foretold.map((each, g) => shareOf(each, (entry, best) => alike[g](entry) === alike[g](best))),
  );
  return productOf(shares);
}
