/**
 * What a report shows of a model beyond numbers: problems it completes, panels it draws while one
 * concept moves, choices it makes among candidates. Problems are made anew from the seeds that an
 * evaluation names, so a report can be drawn wherever the bundle is.
 */
import {
  describeChange,
  layoutOf,
  layoutOfProblem,
  MATRIX_PANELS,
  Random,
  samplePanels,
  sampleProblem,
} from '../../matrix/index.js';
import {
  bytesToPanel,
  nearest,
  softmax,
  type ConceptMeans,
  type Panel,
} from '../../solver/index.js';
import { flat, picturesOf, withConcepts, type ConceptSubject } from '../concept-subject.js';
import type { ExampleProblem, ModelEvaluation } from '../evaluation.js';
import type { CompletedExample, SelectionExample } from '../figures/index.js';
import { drawPanels } from '../metrics/generated-source.js';
import { squaredDistance } from '../row-algebra.js';
import type { Subject } from '../subject.js';
import { extremes } from './extremes.js';

export interface ModelPictures {
  /** Empty for a model that draws no panels. */
  readonly completed: readonly CompletedExample[];
  /** For each concept, panels while only it moves. */
  readonly interpolations: readonly (readonly Panel[])[];
  readonly selections: readonly SelectionExample[];
}

const COMPLETED = 4;
const SELECTIONS = 3;
const STEPS = 7;
/** Fresh problems whose panels show the range of each concept. */
const PROBLEMS = 20;
const PICTURE_SEED = 7_200_000_011;

/** Bytes as values in [0, 1], panel by panel. */
export function panelsOf(pictures: Uint8Array, count: number): Panel[] {
  const size = pictures.length / count;
  return Array.from({ length: count }, (_, i) =>
    bytesToPanel(pictures.subarray(i * size, (i + 1) * size)),
  );
}

/** The problems of an evaluation, or some of our own if it names none. */
function examplesOf({
  examples,
  configuration,
  noisy,
}: ModelEvaluation): readonly ExampleProblem[] {
  if (examples.length > 0) return examples;
  return Array.from({ length: COMPLETED }, (_, index) => ({
    configuration,
    noisy,
    variant: 'i-raven' as const,
    seed: PICTURE_SEED,
    index,
    answer: 0,
    chosen: 0,
    confidence: 0,
  }));
}

/** Wrong choices first, if there are any: mistakes teach more. */
function worthSelecting(examples: readonly ExampleProblem[]): readonly ExampleProblem[] {
  const right = examples.filter(({ answer, chosen }) => answer === chosen);
  const wrong = examples.filter(({ answer, chosen }) => answer !== chosen);
  return [...right.slice(0, SELECTIONS - Math.min(1, wrong.length)), ...wrong].slice(0, SELECTIONS);
}

/** Positions that differ from example to example: one of them, and two. */
function missingSets(i: number, { positions }: Subject['facts']): readonly (readonly number[])[] {
  if (positions === 'last') return [[MATRIX_PANELS]];
  const random = new Random(PICTURE_SEED, i);
  const one = random.between(1, 9);
  const other = ((one + random.between(1, 8) - 1) % 9) + 1;
  return [[one], [Math.min(one, other), Math.max(one, other)]];
}

async function completedExamples(
  subject: Subject,
  examples: readonly ExampleProblem[],
  signal?: AbortSignal,
): Promise<CompletedExample[]> {
  const found: CompletedExample[] = [];
  for (const [i, example] of examples.slice(0, COMPLETED).entries()) {
    const layout = layoutOf(example.configuration, example.noisy);
    const { panels } = samplePanels(example);
    const pictures = drawPanels(layout, panels, subject.facts.imageSize);
    const seen = (await subject.see(pictures, signal)).panels;
    const sets = missingSets(i, subject.facts);
    const asked = sets.map((missing) => ({ panels: seen, missing }));
    const images = (await subject.imagine?.(asked, { signal })) ?? [];
    found.push({
      panels: panelsOf(pictures, MATRIX_PANELS),
      completions: images.map((each, s) => ({ missing: sets[s], images: each })),
    });
  }
  return found;
}

/** Panels of which only one concept moves, between two values it takes far apart from each other. */
async function interpolations(
  subject: ConceptSubject,
  { configuration, noisy }: ModelEvaluation,
  signal?: AbortSignal,
): Promise<(readonly Panel[])[]> {
  const panels = Array.from(
    { length: PROBLEMS },
    (_, index) => samplePanels({ configuration, noisy, seed: PICTURE_SEED, index }).panels,
  ).flat();
  const pictures = drawPanels(layoutOf(configuration, noisy), panels, subject.facts.imageSize);
  const { panels: encoded } = await subject.see(pictures, signal);
  const base = encoded[typical(encoded)];
  const paths = base.map((_, m) => {
    const [from, to] = extremes(encoded.map((means) => means[m]));
    return Array.from({ length: STEPS }, (_, step): ConceptMeans => {
      const share = step / (STEPS - 1);
      const moved = from.map((value, k) => value + share * (to[k] - value));
      return base.map((values, other) => (other === m ? moved : values));
    });
  });
  const drawn = await subject.redraw(paths.flat(), signal);
  return paths.map((_, m) => drawn.slice(m * STEPS, (m + 1) * STEPS));
}

/** The panel nearest to the mean of all: no attribute of it is extreme. */
function typical(encoded: readonly ConceptMeans[]): number {
  const rows = encoded.map(flat);
  const mean = rows[0].map((_, k) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length);
  return nearest(rows.map((row) => squaredDistance(row, mean)));
}

async function selectionExample(
  subject: Subject,
  example: ExampleProblem,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<SelectionExample> {
  const problem = sampleProblem(example);
  const layout = layoutOfProblem(problem);
  const offered = problem.candidates.map(({ panel }) => panel);
  const side = subject.facts.imageSize;
  const context = drawPanels(layout, problem.context, side);
  const candidates = drawPanels(layout, offered, side);
  const given = (await subject.see(context, signal)).panels;
  const question = {
    panels: [...given, given[0]],
    missing: [MATRIX_PANELS],
    candidates: (await subject.see(candidates, signal)).panels.map((each) => [each]),
    pictures: picturesOf(candidates, side).map((each) => [each]),
  };
  const explained = (await withConcepts(subject)?.explain(question, signal)) ?? null;
  const [{ own, scale, painted }] = await subject.choose([question], { signal });
  const chosen = nearest(own);
  const probabilities = softmax(own, scale);
  const pictures = panelsOf(candidates, offered.length);
  const images = await subject.imagine?.([question], { signal });
  return {
    panels: [...panelsOf(context, problem.context.length), images?.[0][0] ?? pictures[chosen]],
    imagined: images !== undefined,
    answer: problem.target,
    chosen,
    concepts: explained === null ? [] : names,
    distance: explained?.distance ?? 'score',
    candidates: pictures.map((panel, c) => {
      const report = explained?.candidates[c];
      return {
        panel,
        shares: report?.calibratedShares ?? report?.l2Shares ?? [],
        painted: painted?.get(c),
        probability: probabilities[c],
        wrong: problem.candidates[c].changes.map((change) => describeChange(layout, change)),
      };
    }),
  };
}

/** Draws everything; `names` are those of the concepts. */
export async function takePictures(
  subject: Subject,
  evaluation: ModelEvaluation,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<ModelPictures> {
  const examples = examplesOf(evaluation);
  const concepts = withConcepts(subject);
  const selections: SelectionExample[] = [];
  for (const example of worthSelecting(examples)) {
    selections.push(await selectionExample(subject, example, names, signal));
  }
  return {
    completed:
      subject.imagine === undefined ? [] : await completedExamples(subject, examples, signal),
    interpolations: concepts === null ? [] : await interpolations(concepts, evaluation, signal),
    selections,
  };
}
