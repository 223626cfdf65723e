/**
 * Are the rules that a model names the true ones? On fresh problems whose rules are known, the last panel
 * missing. A naming is right if it is exactly the set of rules that hold for the nine true panels: naming
 * everything does not count. Its confidence should mean something: among namings that are 80% sure, 80%
 * should be right. If a rule on Number leaves positions open, there are many right answers: as many as
 * there are, ten at most, are asked for, painted, read back and checked.
 */
import {
  answerOf,
  arrangements,
  attributeColumns,
  layoutOf,
  levelOf,
  matrixPanels,
  ruleGroupOf,
  rulesOnValues,
  type ConfigurationLayout,
  type Problem,
  type Rule,
} from '../../matrix/index.js';
import { nameRules, type Answer, type NamedRule } from '../../solver/index.js';
import type { ConceptSubject } from '../concept-subject.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import type { RulesNamedResult } from '../evaluation.js';
import { Bootstrap, meanOf } from '../statistics.js';
import type { CountedOptions } from '../subject.js';
import { LAST } from '../missing-sets.js';
import { seenProblems, SLICE } from './generated-source.js';
import { ReadbackJudge } from './readback-judge.js';

const DEFAULT_SEED = 7_700_000_023;
const ASKED = 10;
/** Lower ends of the bins of confidence; the last one ends at 1, included. */
const BINS: readonly number[] = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

const keyOf = (rules: readonly Rule[]): string =>
  rules
    .map(({ name, attribute, value }) => `${name} ${attribute} ${value}`)
    .sort()
    .join();

/** Whether a rule on Number leaves the positions of a component open. */
const isOpen = ({ rules }: Problem): boolean =>
  rules.some(([first]) => first.attribute === 'Number');

/** How many arrangements of the answer's figures there are: all of them are right. */
function rightOnes({ components }: ConfigurationLayout, problem: Problem): number {
  const answer = answerOf(problem);
  return problem.rules.reduce((product, [first], component) => {
    if (first.attribute !== 'Number') return product;
    const { length } = answer.components[component].entities;
    return product * arrangements(components[component].slots.length, length);
  }, 1);
}

interface Naming {
  readonly confidence: number;
  readonly isRight: boolean;
  readonly isSilent: boolean;
}

const SILENT: Naming = { confidence: 0, isRight: false, isSilent: true };

/** How the rules named for one problem compare with the true ones, an entry for each attribute. */
function compared(
  named: readonly NamedRule[],
  problem: Problem,
  layout: ConfigurationLayout,
): Naming[] {
  const panels = matrixPanels(problem);
  return attributeColumns(layout).map((column) => {
    const found = named.find((each) => each.attribute === column.name);
    if (found === undefined || found.rules.length === 0) return SILENT;
    const values = panels.map((panel) => levelOf(column, panel));
    const component = layout.components[column.component];
    const truth = rulesOnValues(component, ruleGroupOf(column), values);
    const isRight = keyOf(found.rules) === keyOf(truth);
    return { confidence: found.confidence, isRight, isSilent: false };
  });
}

/** How often namings are right, by how sure they were. */
const calibrationOf = (namings: readonly Naming[]): RulesNamedResult['calibration'] =>
  BINS.flatMap((from, b) => {
    const isLast = b === BINS.length - 1;
    const to = isLast ? 1 : BINS[b + 1];
    const own = namings.filter(
      ({ confidence }) => confidence >= from && (confidence < to || isLast),
    );
    if (own.length === 0) return [];
    const confidence = meanOf(own.map((naming) => naming.confidence));
    const right = meanOf(own.map(({ isRight }) => Number(isRight)));
    return [{ from, to, count: own.length, confidence, right }];
  });

/** Names rules on fresh problems; null if the model has no vocabulary. */
export async function rulesNamed(
  subject: ConceptSubject,
  options: CountedOptions = {},
): Promise<RulesNamedResult | null> {
  const { problems: count = DEFAULT_COUNTS.pictures, seed = DEFAULT_SEED } = options;
  const { signal, onProgress } = options;
  const { vocabulary, manifest } = subject.solver;
  if (vocabulary === null) return null;
  const layout = layoutOf(subject.facts.configuration, subject.facts.noisy);
  const judge = new ReadbackJudge(layout);
  /** The share of the first answers to an open problem that obey its rules. */
  const rightAnswers = async (problem: Problem, answer: Answer): Promise<number> => {
    const asked = Math.min(ASKED, rightOnes(layout, problem));
    const offered = await subject.solver.alternatives(answer, asked, { signal });
    return meanOf(offered.map(({ images }) => Number(judge.obeys(problem, [LAST], images))));
  };
  const namings: Naming[][] = [];
  const several: number[] = [];
  for await (const { from, problems, matrices } of seenProblems(subject, count, seed, signal)) {
    const asked = matrices.map((each) => ({ panels: each, missing: [LAST] }));
    const answers = await subject.answers(asked, { signal });
    for (const [n, problem] of problems.entries()) {
      namings.push(compared(nameRules(vocabulary, manifest, answers[n]), problem, layout));
      if (isOpen(problem)) several.push(await rightAnswers(problem, answers[n]));
    }
    onProgress?.(Math.min(1, (from + SLICE) / count));
  }
  const shareOf = (v: number, holds: (naming: Naming) => boolean): number =>
    namings.filter((each) => holds(each[v])).length / count;
  return {
    problems: count,
    seed,
    right: new Bootstrap(count).share(
      namings.map((each) => meanOf(each.map(({ isRight }) => Number(isRight)))),
    ),
    byAttribute: attributeColumns(layout).map((attribute, v) => ({
      attribute,
      right: shareOf(v, ({ isRight }) => isRight),
      wrong: shareOf(v, ({ isRight, isSilent }) => !isRight && !isSilent),
      silent: shareOf(v, ({ isSilent }) => isSilent),
    })),
    calibration: calibrationOf(namings.flat().filter(({ isSilent }) => !isSilent)),
    several:
      several.length === 0
        ? null
        : { problems: several.length, asked: ASKED, right: meanOf(several) },
  };
}
