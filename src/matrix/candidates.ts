/**
 * The eight candidates of a problem. RAVEN changes one attribute of the answer for each wrong one, which
 * makes the answer the candidate most like all others. I-RAVEN (Hu et al., "Stratified Rule-Aware
 * Network for Abstract Visual Reasoning") changes three attributes in all combinations, so that every
 * value is shared by half of the candidates and the answer cannot be told without the context.
 * RAVEN-FAIR (`candidates-fair.ts`) also changes wrong ones further.
 */
import { areEqual } from '../base/index.js';
import { fairCandidates } from './candidates-fair.js';
import {
  coherentLevels,
  independentLevels,
  newNumbersOfNewEntities,
  newNumbersOfSameEntities,
  newPositions,
  type Edit,
  type EditContext,
  type EditSource,
} from './edits.js';
import { modifiableAttributes, type Modifiable } from './modifiable.js';
import type { Plan } from './plan.js';
import {
  CANDIDATES,
  CONTEXT_PANELS,
  isSameChange,
  type AttributeChange,
  type Candidate,
  type Panel,
  type Rule,
  type Variant,
} from './problem.js';
import type { Random } from './random.js';
import { renderPanel } from './render-panel.js';
import { rulesOf, VALUE_ATTRIBUTES, type PossibleRules } from './rules.js';
import { rulesHold } from './symbolic.js';

const DISTRACTOR_COUNT = CANDIDATES - 1;

/** What the makers work on: the answer and how it came about. */
interface Situation {
  readonly random: Random;
  readonly plan: Plan;
  readonly possible: readonly PossibleRules[];
  /** The eight context panels. */
  readonly context: readonly Panel[];
  readonly answer: Panel;
}

function contextOf(situation: Situation, component: number): EditContext {
  return {
    random: situation.random,
    layout: situation.plan.layout.components[component],
    rules: situation.possible[component],
    answer: situation.answer.components[component],
  };
}

/** A candidate with one more attribute changed. */
function changed(candidate: Candidate, change: AttributeChange, edit: Edit): Candidate {
  const { component, attribute } = change;
  const positionChanged = candidate.changes.some((earlier) =>
    isSameChange(earlier, { component, attribute: 'Position' }),
  );
  const components = candidate.panel.components.map((panel, index) =>
    index === component ? edit(panel, positionChanged) : panel,
  );
  return { panel: { components }, changes: [...candidate.changes, { component, attribute }] };
}

const tooFew = (found: number): string =>
  `the attributes that may be changed give only ${found} of the ${DISTRACTOR_COUNT} different wrong candidates needed`;

function ravenSource(situation: Situation, { component, attribute }: AttributeChange): EditSource {
  const context = contextOf(situation, component);
  if (attribute === 'Number') return newNumbersOfNewEntities(context);
  if (attribute === 'Position') return newPositions(context);
  return independentLevels(context, attribute);
}

/** Pixels four at a time, which are compared faster. */
const wordsOf = (picture: Uint8Array): Int32Array => new Int32Array(picture.buffer);

/**
 * What RAVEN-FAIR's program asks of a wrong candidate, of RAVEN's kind too: it breaks a rule, and it
 * looks like none before it.
 */
function unlikeOthers({ plan, possible, context, answer }: Situation): (panel: Panel) => boolean {
  const { layout } = plan;
  const seen = [wordsOf(renderPanel(layout, answer))];
  const rules = possible.map(rulesOf);
  return (panel) => {
    if (rulesHold(layout, rules, [...context, panel])) return false;
    const picture = wordsOf(renderPanel(layout, panel));
    if (seen.some((other) => areEqual(other, picture))) return false;
    seen.push(picture);
    return true;
  };
}

/** RAVEN: seven times, one attribute of the answer is changed. */
function ravenCandidates(
  situation: Situation,
  modifiable: readonly Modifiable[],
  accept: (panel: Panel) => boolean,
): Candidate[] | string {
  const remaining = modifiable.map((change) => ({
    change,
    budget: change.budget,
    next: ravenSource(situation, change),
  }));
  const answer: Candidate = { panel: situation.answer, changes: [] };
  const candidates = [answer];
  while (candidates.length < CANDIDATES) {
    if (remaining.length === 0) return tooFew(candidates.length - 1);
    const at = situation.random.below(remaining.length);
    const { change, next } = remaining[at];
    const candidate = changed(answer, change, next());
    if (accept(candidate.panel)) candidates.push(candidate);
    if (--remaining[at].budget === 0) remaining.splice(at, 1);
  }
  return candidates;
}

function bisectionSource(
  situation: Situation,
  { component, attribute }: AttributeChange,
  picked: readonly Modifiable[],
): EditSource {
  const context = contextOf(situation, component);
  if (attribute === 'Position') return newPositions(context);
  if (attribute === 'Number') {
    const beside =
      picked.length === 3 &&
      picked.some((change) => isSameChange(change, { component, attribute: 'Position' }));
    return newNumbersOfSameEntities(context, beside);
  }
  const rule: Rule = situation.possible[component][1 + VALUE_ATTRIBUTES.indexOf(attribute)].rule;
  return coherentLevels(context, attribute, rule);
}

/** All combinations of the answer's and one new value of each attribute. */
function bisect(situation: Situation, picked: readonly Modifiable[]): Candidate[] {
  let candidates: Candidate[] = [{ panel: situation.answer, changes: [] }];
  for (const change of picked) {
    const edit = bisectionSource(situation, change, picked)();
    candidates = [
      ...candidates,
      ...candidates.map((candidate) => changed(candidate, change, edit)),
    ];
  }
  return candidates;
}

/** With two attributes: one new value of the first, three of the second, in all combinations. */
function bisectTwo(situation: Situation, picked: readonly Modifiable[]): Candidate[] | string {
  let [first, second] = picked;
  // In the data sets the second is always a Number with values to spare; fixed distractors may differ.
  if (second.budget < 3) [first, second] = [second, first];
  if (second.budget < 3) return tooFew((first.budget + 1) * (second.budget + 1) - 1);
  const answer: Candidate = { panel: situation.answer, changes: [] };
  const firstChanged = changed(answer, first, bisectionSource(situation, first, picked)());
  const bases = [answer, firstChanged];
  const next = bisectionSource(situation, second, picked);
  const covers =
    first.component === second.component &&
    first.attribute === 'Position' &&
    second.attribute === 'Number';
  if (covers) {
    // A new number makes a new arrangement: it cannot be combined with the changed Position.
    for (let i = 0; i < 6; i++) bases.push(changed(answer, second, next()));
    return bases;
  }
  const candidates = [...bases];
  for (let i = 0; i < 3; i++) {
    const edit = next();
    candidates.push(...bases.map((base) => changed(base, second, edit)));
  }
  return candidates;
}

function bisectOne(situation: Situation, change: Modifiable): Candidate[] | string {
  if (change.budget < DISTRACTOR_COUNT) return tooFew(change.budget);
  const answer: Candidate = { panel: situation.answer, changes: [] };
  const next = bisectionSource(situation, change, [change]);
  const candidates = [answer];
  while (candidates.length < CANDIDATES) candidates.push(changed(answer, change, next()));
  return candidates;
}

const someOf = <T>(random: Random, items: readonly T[], count: number): T[] =>
  random.subset(items.length, count).map((index) => items[index]);

/** Three attributes, or as many as there are. With a mesh, one or more of them are of the mesh. */
function pickThree(
  { random, plan }: Situation,
  modifiable: readonly Modifiable[],
): readonly Modifiable[] {
  if (!plan.layout.mesh) return someOf(random, modifiable, Math.min(3, modifiable.length));
  if (modifiable.length <= 3) return modifiable;
  const last = plan.components.length - 1;
  const lines = modifiable.filter(({ component }) => component === last);
  const figures = modifiable.filter(({ component }) => component !== last);
  const count = random.between(1, lines.length);
  return [...someOf(random, lines, count), ...someOf(random, figures, 3 - count)];
}

/** I-RAVEN: attribute bisection over three attributes, or over as many as there are. */
function bisectionCandidates(
  situation: Situation,
  modifiable: readonly Modifiable[],
): Candidate[] | string {
  const drawn = pickThree(situation, modifiable);
  const picked = [
    ...drawn.filter(({ attribute }) => attribute !== 'Number'),
    ...drawn.filter(({ attribute }) => attribute === 'Number'),
  ];
  if (picked.length === 3) return bisect(situation, picked);
  if (picked.length === 2) return bisectTwo(situation, picked);
  return picked.length === 1 ? bisectOne(situation, picked[0]) : tooFew(0);
}

/**
 * The answer, first, and seven wrong candidates; all eight differ. Where the plan lets too few
 * attributes change, the reason instead.
 */
export function makeCandidates(
  random: Random,
  variant: Variant,
  plan: Plan,
  possible: readonly PossibleRules[],
  panels: readonly Panel[],
): Candidate[] | string {
  const [context, answer] = [panels.slice(0, CONTEXT_PANELS), panels[CONTEXT_PANELS]];
  const situation: Situation = { random, plan, possible, context, answer };
  const modifiable = modifiableAttributes(plan.components, possible.map(rulesOf), answer);
  switch (variant) {
    case 'raven':
      return ravenCandidates(situation, modifiable, () => true);
    case 'raven-unique':
      return ravenCandidates(situation, modifiable, unlikeOthers(situation));
    case 'i-raven':
      return bisectionCandidates(situation, modifiable);
    case 'raven-fair': {
      const made = fairCandidates(situation, CANDIDATES, unlikeOthers(situation));
      return made.length === CANDIDATES ? made : tooFew(made.length - 1);
    }
  }
}

/** Puts candidates, the answer first, into random order. */
export function shuffleCandidates(
  random: Random,
  candidates: readonly Candidate[],
): { candidates: Candidate[]; target: number } {
  const order = random.subset(candidates.length, candidates.length);
  return { candidates: order.map((from) => candidates[from]), target: order.indexOf(0) };
}
