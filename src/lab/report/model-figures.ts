/** All figures of one model's report, with captions that say what is seen. */
import { clusterLetter } from '../figures/rule-prior.js';
import { counted, indexOfLargest, percent } from '../../base/index.js';
import type { HistoryCurve, RuleMap } from '../../solver/index.js';
import type { ModelEvaluation } from '../evaluation.js';
import { problemsText } from '../problems-text.js';
import {
  answerSelectionFigure,
  arbitraryPositionsFigure,
  conceptsFigure,
  gsaFigure,
  gsaWays,
  ruleAgreementFigure,
  ruleMapsFigure,
  rulePriorFigure,
  ruleTitle,
  trainingFigure,
  type RulePriorData,
  type SelectionExample,
} from '../figures/index.js';
import type { ReportFigure } from './markup.js';
import type { ModelPictures } from './pictures.js';
import { conceptNames, ruleMapsData, rulePriorsData } from './rule-data.js';

/** Figures by the section they stand in. */
export interface ModelFigures {
  readonly selection: readonly ReportFigure[];
  readonly positions: readonly ReportFigure[];
  readonly concepts: readonly ReportFigure[];
  readonly rules: readonly ReportFigure[];
  readonly training: readonly ReportFigure[];
}

/** Every id that a figure of a model may have; no other file is ever written as one. */
export const FIGURE_ID =
  /^(?:answer-selection-\d+|arbitrary-positions|concepts-interpolation|gsa|rule-agreement|rule-maps|rule-prior-\d+|training-curves)$/;

/** All of them, in the order of the page. */
export const allFigures = (figures: ModelFigures): readonly ReportFigure[] =>
  Object.values(figures).flat() as ReportFigure[];

function selectionCaption(example: SelectionExample, first: boolean): string {
  const { answer, chosen, candidates, concepts, distance } = example;
  const by = distance === 'calibrated' ? 'the calibrated distance' : 'the squared L2 distance';
  const scored = `${example.imagined ? 'The imagined panel' : 'The chosen candidate'} is framed. Below each candidate: how probable the model finds it, and what it truly gets wrong.`;
  const byConcepts = `The imagined panel is framed. Below each candidate: the part that every concept (its number and name) has in ${by} from the imagined panel; strongly coloured cells are why a candidate is excluded. Below these: how probable the model finds it, and what it truly gets wrong.`;
  const explained = distance === 'score' ? scored : byConcepts;
  const isPainted = candidates.some(({ painted }) => painted !== undefined);
  const tie = isPainted
    ? ' Candidates that are about as close were painted from their descriptions: the row "painting" is what that adds to their distance.'
    : '';
  const how = `${first ? explained : 'Another problem, read in the same way.'}${tie}`;
  if (answer === chosen) return how;
  const { shares, painted = 0 } = candidates[answer];
  if (shares.length === 0) return `${how} Here the model is wrong: the answer is ${answer + 1}.`;
  const worst = [...concepts, 'painting'][indexOfLargest([...shares, painted])];
  return `${how} Here the model is wrong: it takes candidate ${chosen + 1}, and lays the answer, ${answer + 1}, aside mostly for "${worst}".`;
}

function priorCaption(data: RulePriorData, first: boolean): string {
  const { concept, name, attribute, clusters } = data;
  const compared = name === attribute ? '' : `, compared here with the rules on ${attribute}`;
  const found = clusters
    .map(({ rule, purity }, i) => `${clusterLetter(i)} ${ruleTitle(rule)} ${percent(purity, 0)}`)
    .join(', ');
  const explained = first
    ? ' Contours: log density of the prior that was fitted to the parsed rules, without labels. Points: rules parsed from problems of validation, coloured by the true rule. Letters: categories of rules, which may lie in several clouds (a line leads to the middle of each, a ring): a rule and its mirror image, such as one more and one less, are of one kind; beside the map, problems nearest to a middle.'
    : '';
  return `Concept ${concept} (${name})${compared}.${explained} Most frequent true rule in each: ${found || 'no cluster holds enough problems'}.`;
}

function conceptFigures(evaluation: ModelEvaluation, pictures: ModelPictures): ReportFigure[] {
  if (pictures.interpolations.length === 0) return [];
  const names = conceptNames(evaluation);
  const { vd } = evaluation;
  const rows = pictures.interpolations.map((path, m) => ({
    concept: m + 1,
    name: names[m],
    path,
    decline: vd?.decline[m] ?? null,
  }));
  const right =
    vd === null
      ? ''
      : ' Right: variance decline, by how much the variance of the concept declines when an attribute is held fixed; near 1 means that the concept is this attribute.';
  const named =
    vd === null
      ? ''
      : ' A concept is called after the attribute with the largest decline; "mixed" where none stands out, "unused" where the concept hardly varies.';
  return [
    {
      id: 'concepts-interpolation',
      figure: conceptsFigure({ attributes: vd?.attributes.map(({ name }) => name) ?? [], rows }),
      caption: `One row for each concept. Left: what the decoder draws while only this concept moves, between two values far apart; a row that stays the same is a concept the model does not use.${right}${named}`,
    },
  ];
}

function ruleFigures(evaluation: ModelEvaluation, map: RuleMap | null): ReportFigure[] {
  const maps = ruleMapsData(evaluation, map);
  const names = conceptNames(evaluation);
  const figures: ReportFigure[] = [];
  if (maps !== null) {
    figures.push({
      id: 'rule-maps',
      figure: ruleMapsFigure(maps),
      caption: `Rules parsed from ${maps.rows[0].truth.length} problems of validation at ${counted(maps.steps.length, 'moment')} of training: each point is the two numbers of one problem's rule for this concept, coloured by the true rule on its attribute, which the model never saw. Where colours part, the model has found the rule by itself. All moments of a row have one scale.`,
    });
  }
  for (const [i, prior] of rulePriorsData(evaluation, map).entries()) {
    figures.push({
      id: `rule-prior-${prior.concept}`,
      figure: rulePriorFigure(prior),
      caption: priorCaption(prior, i === 0),
    });
  }
  if (evaluation.ari !== null) {
    figures.push({
      id: 'rule-agreement',
      figure: ruleAgreementFigure(evaluation.ari.matrix, names),
      caption: `Adjusted Rand index between the rule categories of each concept and the true rules on each attribute, on ${problemsText(evaluation, evaluation.ari.problems)}: 1 is perfect agreement, 0 is what chance gives.`,
    });
  }
  return figures;
}

function positionFigures(evaluation: ModelEvaluation, pictures: ModelPictures): ReportFigure[] {
  const { gsa } = evaluation;
  const { completed } = pictures;
  const sets = completed.at(0)?.completions.length ?? 0;
  const taken = sets === 1 ? 'the last panel' : 'one and with two panels';
  const drawn: ReportFigure[] =
    completed.length === 0
      ? []
      : [
          {
            id: 'arbitrary-positions',
            figure: arbitraryPositionsFigure(completed),
            caption: `Top: whole problems. Below: the same with ${taken} taken away and imagined from the others (framed).`,
          },
        ];
  if (gsa === null || gsa.points.length === 0) return drawn;
  return [
    ...drawn,
    {
      id: 'gsa',
      figure: gsaFigure(gsaWays(gsa.points)),
      caption: `Global selection accuracy: panels at random positions are imagined and chosen among the true ones and those at the same positions of other problems. Bars: 95% intervals; dashed: chance, where the scale reaches down to it. "All together" is one choice for all missing panels, as in the paper; L2 is the paper's distance. ${counted(gsa.repeats, 'repeat')} over ${problemsText(evaluation, gsa.problems)}.`,
    },
  ];
}

const trainingFigures = (history: readonly HistoryCurve[]): ReportFigure[] =>
  history.some(({ steps }) => steps.length > 0)
    ? [
        {
          id: 'training-curves',
          figure: trainingFigure(history),
          caption:
            'Over steps of training. Above: accuracy on problems of validation, SA choosing panel 9, GSA panels at any position. Below: the objective (loss) and its terms, each on a scale of its own: how well panels are drawn (reconstruction), how far concepts and rules told from the context are from those told from whole matrices (the two regularizers), and how well rules fit the mixture that stands for global rules (rule prior).',
        },
      ]
    : [];

export function modelFigures(
  evaluation: ModelEvaluation,
  pictures: ModelPictures,
  map: RuleMap | null,
): ModelFigures {
  return {
    selection: pictures.selections.map((example, i) => ({
      id: `answer-selection-${i + 1}`,
      figure: answerSelectionFigure(example),
      caption: selectionCaption(example, i === 0),
    })),
    positions: positionFigures(evaluation, pictures),
    concepts: conceptFigures(evaluation, pictures),
    rules: ruleFigures(evaluation, map),
    training: trainingFigures(evaluation.history),
  };
}
