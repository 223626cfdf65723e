/**
 * What a report shows of a model beyond numbers: problems it completes, panels it draws while one
 * concept moves, choices it makes among candidates. Problems are made anew from the seeds that an
 * evaluation names, so a report can be drawn wherever the bundle is.
 */
import {
  describeChange,
  layoutOf,
  Random,
  renderPanel64,
  samplePanels,
  sampleProblem,
  type ConfigurationLayout,
  type Panel as PanelDescription,
} from '../../matrix/index.js';
import type { ConceptMeans, Panel, SolverCore } from '../../solver/index.js';
import type { ExampleProblem, ModelEvaluation } from '../evaluation.js';
import type { CompletedExample, SelectionExample } from '../figures/index.js';
import { extremes } from './extremes.js';

/** What is asked of a solver. */
export type Pictured = Pick<
  SolverCore,
  'manifest' | 'encode' | 'decode' | 'solveAll' | 'chooseAll' | 'ruleMap'
>;

export interface ModelPictures {
  readonly completed: readonly CompletedExample[];
  /** For each concept, panels while only it moves. */
  readonly interpolations: readonly (readonly Panel[])[];
  readonly selections: readonly SelectionExample[];
}

const COMPLETED = 4;
const SELECTIONS = 3;
const STEPS = 7;
/** Fresh panels among which concepts find their range. */
const PANELS = 180;
const PICTURE_SEED = 7_200_000_011;

/** A panel drawn as models see it. */
export const picture = (layout: ConfigurationLayout, panel: PanelDescription): Panel =>
  Float32Array.from(renderPanel64(layout, panel), (value) => value / 255);

/** The problems of an evaluation, or some of our own where it names none. */
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

/** Wrong choices first where there are any: what a model gets wrong teaches more than what it can. */
function worthSelecting(examples: readonly ExampleProblem[]): readonly ExampleProblem[] {
  const right = examples.filter(({ answer, chosen }) => answer === chosen);
  const wrong = examples.filter(({ answer, chosen }) => answer !== chosen);
  return [...right.slice(0, SELECTIONS - Math.min(1, wrong.length)), ...wrong].slice(0, SELECTIONS);
}

/** Positions that differ from example to example: one of them, and two. */
function missingSets(i: number): readonly (readonly number[])[] {
  const random = new Random(PICTURE_SEED, i);
  const one = random.between(1, 9);
  const other = ((one + random.between(1, 8) - 1) % 9) + 1;
  return [[one], [Math.min(one, other), Math.max(one, other)]];
}

async function completedExamples(
  solver: Pictured,
  examples: readonly ExampleProblem[],
  signal?: AbortSignal,
): Promise<CompletedExample[]> {
  const matrices = examples.slice(0, COMPLETED).map((example) => {
    const layout = layoutOf(example.configuration, example.noisy);
    return samplePanels(example).panels.map((panel) => picture(layout, panel));
  });
  const questions = matrices.flatMap((panels, i) =>
    missingSets(i).map((missing) => ({ panels, missing })),
  );
  const answers = await solver.solveAll(questions, { signal });
  let at = 0;
  return matrices.map((panels, i) => ({
    panels,
    completions: missingSets(i).map(() => {
      const { missing, images } = answers[at++];
      return { missing, images };
    }),
  }));
}

/** Panels of which only one concept moves, between two values it takes far apart from each other. */
async function interpolations(
  solver: Pictured,
  { configuration, noisy }: ModelEvaluation,
  signal?: AbortSignal,
): Promise<(readonly Panel[])[]> {
  const layout = layoutOf(configuration, noisy);
  const panels = Array.from(
    { length: PANELS / 9 },
    (_, index) => samplePanels({ configuration, noisy, seed: PICTURE_SEED, index }).panels,
  ).flat();
  const encoded = await solver.encode(
    panels.map((panel) => picture(layout, panel)),
    { signal },
  );
  const base = encoded[typical(encoded)];
  const paths = base.map((_, m) => {
    const [from, to] = extremes(encoded.map((means) => means[m]));
    return Array.from({ length: STEPS }, (_, step): ConceptMeans => {
      const share = step / (STEPS - 1);
      const moved = from.map((value, k) => value + share * (to[k] - value));
      return base.map((values, other) => (other === m ? moved : values));
    });
  });
  const drawn = await solver.decode(paths.flat(), { signal });
  return paths.map((_, m) => drawn.slice(m * STEPS, (m + 1) * STEPS));
}

/** The panel nearest to the mean of all: no attribute of it is extreme. */
function typical(encoded: readonly ConceptMeans[]): number {
  const flat = encoded.map((means) => means.flatMap((values) => Array.from(values)));
  const mean = flat[0].map((_, k) => flat.reduce((sum, row) => sum + row[k], 0) / flat.length);
  const distances = flat.map((row) =>
    row.reduce((sum, value, k) => sum + (value - mean[k]) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

async function selections(
  solver: Pictured,
  examples: readonly ExampleProblem[],
  names: readonly string[],
  signal?: AbortSignal,
): Promise<SelectionExample[]> {
  const problems = worthSelecting(examples).map((example) => {
    const problem = sampleProblem(example);
    const layout = layoutOf(problem.configuration, problem.noisy);
    return {
      problem,
      layout,
      context: problem.context.map((panel) => picture(layout, panel)),
      candidates: problem.candidates.map(({ panel }) => picture(layout, panel)),
    };
  });
  const answers = await solver.solveAll(
    problems.map(({ context }) => ({ panels: context })),
    { signal },
  );
  const choices = await solver.chooseAll(
    problems.map(({ candidates }, i) => ({ answer: answers[i], candidates })),
    { signal },
  );
  return problems.map(({ problem, layout, context, candidates }, i): SelectionExample => {
    const choice = choices[i];
    return {
      panels: [...context, answers[i].images[0]],
      answer: problem.target,
      chosen: choice.index,
      concepts: names,
      distance: choice.distance,
      candidates: choice.candidates.map((report, c) => ({
        panel: candidates[c],
        shares:
          (choice.distance === 'calibrated' ? report.calibratedShares : null) ?? report.l2Shares,
        probability: report.probability,
        wrong: problem.candidates[c].changes.map((change) => describeChange(layout, change)),
      })),
    };
  });
}

/** Draws everything; `names` are those of the concepts. */
export async function takePictures(
  solver: Pictured,
  evaluation: ModelEvaluation,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<ModelPictures> {
  const examples = examplesOf(evaluation);
  return {
    completed: await completedExamples(solver, examples, signal),
    interpolations: await interpolations(solver, evaluation, signal),
    selections: await selections(solver, examples, names, signal),
  };
}
