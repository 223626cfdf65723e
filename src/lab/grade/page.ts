/** The page of a graded test. */
import path from 'node:path';
import { counted, percent } from '../../base/index.js';
import {
  attributesFigure,
  DOUBTFUL,
  itemChoicesFigure,
  itemMapFigure,
  scoresFigure,
} from '../figures/index.js';
import { whole } from '../numbers.js';
import { GRADE_MARK } from '../report/marks.js';
import {
  figureMarkup,
  headlines,
  markup,
  table,
  type Content,
  type Headline,
  type Markup,
  type Section,
} from '../report/markup.js';
import { pageText } from '../report/page.js';
import { isRight, severalRight } from './items.js';
import { hasTimes, type GradeResult, type ItemGrade, type PicturedGrade } from './result.js';
import { intervalWords } from './statistics.js';

/** Items shown with their pictures; a page of hundreds would be slow to open. */
const MOST_PICTURED = 60;

const decimals = (value: number | null, digits = 2): string =>
  value === null ? '–' : value.toFixed(digits);

function headlinesOf(result: GradeResult): Markup {
  const { respondents, items, unanswered, mean, deviation, alpha, model } = result;
  const left = unanswered ? `, ${unanswered} more answered by nobody` : '';
  const list: Headline[] = [
    {
      value: whole(respondents.length),
      meaning: respondents.length === 1 ? 'respondent' : 'respondents',
      detail: `${counted(items.length, 'item')}${left}`,
    },
    {
      value: `${mean.toFixed(1)} / ${items.length}`,
      meaning: 'right answers on average',
      detail: deviation === null ? undefined : `standard deviation ${deviation.toFixed(1)}`,
    },
    {
      value: decimals(alpha?.value ?? null),
      meaning: "Cronbach's alpha (KR-20)",
      detail: alpha === null ? 'not defined for these data' : intervalWords(alpha),
    },
  ];
  if (model !== null) {
    list.push({
      value: `${model.right} / ${model.answered}`,
      meaning: 'right answers of the model',
      detail: `better than ${percent(model.above, 0)} of the people`,
    });
  }
  return headlines(list);
}

const TIME_COLUMN = { title: 'median time', numeric: true } as const;

const timeOf = (seconds: number | null): string =>
  seconds === null ? '–' : `${seconds.toFixed(1)} s`;

function scoresSection(result: GradeResult): Section {
  const { respondents, items, model, standardError } = result;
  const timed = hasTimes(result);
  const rows = [...respondents]
    .sort((a, b) => b.right - a.right)
    .map(({ name, right, answered, share, medianSeconds }) => ({
      cells: [name, right, answered, percent(share), ...(timed ? [timeOf(medianSeconds)] : [])],
    }));
  const scaled = model === null ? null : model.share * items.length;
  const line =
    model === null
      ? ''
      : model.answered === items.length
        ? ` The line: the score of the model (${model.names.join(', ')}).`
        : ` The line: the score the model (${model.names.join(', ')}) would have on all items at its share of right answers on the ${model.answered} it can answer.`;
  const error =
    standardError === null
      ? ''
      : ` A score is uncertain by about ${standardError.toFixed(1)} items (standard error of measurement).`;
  return {
    id: 'scores',
    title: 'Scores',
    content: [
      figureMarkup({
        id: 'score-distribution',
        figure: scoresFigure({
          scores: respondents.map(({ right }) => right),
          items: items.length,
          model: scaled,
        }),
        caption: `How many respondents had how many right answers. Choices left out count as wrong.${line}${error}`,
      }),
      markup`<details><summary>Every respondent</summary>`,
      table(
        [
          { title: 'respondent' },
          { title: 'right', numeric: true },
          { title: 'answered', numeric: true },
          { title: 'share', numeric: true },
          ...(timed ? [TIME_COLUMN] : []),
        ],
        rows,
      ),
      markup`</details>`,
    ],
  };
}

const itemColumns = (timed: boolean) => [
  { title: 'item' },
  { title: 'configuration' },
  { title: 'answer', numeric: true },
  { title: 'right', numeric: true },
  { title: 'difficulty', numeric: true },
  ...(timed ? [TIME_COLUMN] : []),
  { title: 'discrimination', numeric: true },
  { title: 'alpha without', numeric: true },
  { title: 'left out', numeric: true },
  { title: 'model', numeric: true },
];

const isDoubtful = ({ discrimination }: ItemGrade): boolean =>
  discrimination !== null && discrimination < DOUBTFUL;

const itemRow = (item: ItemGrade, timed: boolean) => ({
  cells: [
    item.id,
    item.configuration ?? '–',
    [item.answer, ...item.alsoRight].join(' or '),
    item.right,
    percent(item.difficulty),
    ...(timed ? [timeOf(item.medianSeconds)] : []),
    decimals(item.discrimination),
    decimals(item.alphaWithout),
    item.omitted,
    item.modelChoice === null
      ? '–'
      : `${item.modelChoice}${isRight(item, item.modelChoice) ? ' right' : ' wrong'}`,
  ],
  marked: isDoubtful(item),
});

function itemsSection(result: GradeResult): Section {
  const { items } = result;
  const timed = hasTimes(result);
  const several = severalRight(items);
  const points = items.flatMap(({ id, difficulty, discrimination }) =>
    discrimination === null ? [] : [{ id, difficulty, discrimination }],
  );
  const map: Content =
    points.length === 0
      ? markup`<p>Discrimination is not defined: it takes at least two items and respondents that differ.</p>`
      : figureMarkup({
          id: 'item-map',
          figure: itemMapFigure(points),
          caption: `Each point is an item. Discrimination is the correlation of this item with the score on all others (corrected item-total point-biserial): below ${DOUBTFUL} (dashed, marked in the table) an item tells little about ability; below zero those who do well otherwise fail it.`,
        });
  return {
    id: 'items',
    title: 'Items',
    content: [
      markup`<p>Difficulty is the share of right answers: easy items have a large one.</p>`,
      timed
        ? markup`<p>Median time is that of all who were timed on the item, right or wrong.</p>`
        : [],
      several === '' ? [] : markup`<p>${several}</p>`,
      map,
      table(
        itemColumns(timed),
        items.map((item) => itemRow(item, timed)),
      ),
    ],
  };
}

function attributesSection({ attributes, wrongChoices }: GradeResult): Section {
  const content: Content =
    attributes.length === 0 || wrongChoices === 0
      ? markup`<p>The items do not tell what their wrong candidates get wrong, or nobody chose a wrong one.</p>`
      : figureMarkup({
          id: 'attributes',
          figure: attributesFigure(attributes),
          caption: `Of ${whole(wrongChoices)} wrong choices, how many get an attribute wrong (bars), and how many would if wrong candidates were taken at random (ticks). A bar beyond its tick: people overlook this attribute. One choice can get several wrong.`,
        });
  return { id: 'attributes-section', title: 'What wrong choices get wrong', content };
}

function choicesSection({ result, pictures }: PicturedGrade): Section {
  const shown = result.items.flatMap((item) => {
    const found = pictures.get(item.id);
    return found === undefined ? [] : [{ item, ...found }];
  });
  const { withoutPictures } = result;
  const lacking =
    withoutPictures === 0
      ? []
      : markup`<p>Not shown: ${withoutPictures} of ${result.items.length} items, whose seed makes other items than the key describes. That is so where they were made with --rules, or where the key was changed.</p>`;
  const figures = shown.slice(0, MOST_PICTURED).map(({ item, context, candidates }) =>
    figureMarkup({
      id: `item-${item.id}`,
      figure: itemChoicesFigure({
        id: item.id,
        context,
        candidates,
        answer: item.answer,
        alsoRight: item.alsoRight,
        shares: item.choices.map(({ share }) => share),
        violates: item.choices.map(({ violates }) => violates),
        modelChoice: item.modelChoice,
      }),
      caption: `${item.id}${item.rules === null ? '' : `: ${item.rules.join('; ')}`}`,
    }),
  );
  const rest = shown.length - MOST_PICTURED;
  return {
    id: 'choices',
    title: 'Choices item by item',
    content: [
      markup`<p>Below each candidate: the share of people who took it, and what it gets wrong. The answer is green${result.model === null ? '' : '; a dot marks what the model took'}.</p>`,
      figures,
      lacking,
      rest > 0
        ? markup`<p>${rest} further items are in the table above and in the JSON report.</p>`
        : [],
    ],
  };
}

function reliabilitySection({ alpha, standardError }: GradeResult): Section {
  const text =
    alpha === null
      ? markup`<p>Not defined: it takes at least two items, two respondents and scores that differ.</p>`
      : markup`<p>Cronbach's alpha, for items scored right or wrong the same as KR-20: ${decimals(alpha.value)}, ${intervalWords(alpha)}${alpha.low === null ? ' for one that means something' : ', by bootstrap over respondents'}. Standard error of measurement: ${decimals(standardError, 1)} items.</p>`;
  return { id: 'reliability', title: 'Reliability', content: text };
}

/** The whole page. */
export function gradePage(graded: PicturedGrade): string {
  const { result } = graded;
  return pageText({
    title: 'Test report',
    lead: `${path.basename(result.responses)}: what people answered, how the items performed, and what wrong choices get wrong.`,
    top: headlinesOf(result),
    sections: [
      scoresSection(result),
      itemsSection(result),
      attributesSection(result),
      reliabilitySection(result),
      choicesSection(graded),
    ],
    footer: `${GRADE_MARK}.`,
  });
}
