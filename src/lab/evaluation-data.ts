/**
 * Problems to measure on: fresh ones of our generator, or data that were given, at the side that a model
 * sees. In what these differ from the model's own problems is part of their name.
 */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError } from '../base/index.js';
import {
  CONFIGURATIONS,
  hasGrid,
  layoutName,
  layoutOf,
  PAPER_VARIANTS,
  type Configuration,
  type Part,
  type ProblemSource,
  type Variant,
} from '../matrix/index.js';
import { checkData, openProblems } from '../matrix/node.js';
import { generatedSource } from './metrics/generated-source.js';
import type { SubjectFacts } from './subject.js';
import { variantOf } from './summary.js';

/** Problems to evaluate on. */
export interface EvaluationData {
  readonly source: ProblemSource;
  /** How it is called in results; the source's own name unless told. */
  readonly name?: string;
  readonly variant?: Variant | null;
  /** Of a model that is measured on several. */
  readonly configuration?: Configuration;
  /** Of fresh problems of our generator. */
  readonly seed?: number;
}

/** No model was trained on problems of this seed. */
const FRESH_SEED = 7_700_000_017;

/** Problems of each variant unless told: if one model is measured, and if all of a zoo are. */
export const FRESH_COUNTS = { model: 2000, zoo: 5000 } as const;

export interface FreshOptions {
  readonly variants?: readonly Variant[];
  readonly seed?: number;
}

/** What a model is measured on: its own configuration, or all of them with RAVEN's own noise. */
const layoutsFor = ({ configuration, noisy, mixed }: SubjectFacts) =>
  mixed
    ? CONFIGURATIONS.map((each) => ({ configuration: each, noisy: hasGrid(each) }))
    : [{ configuration, noisy }];

/**
 * Fresh problems: the same matrices with the candidates of each variant, RAVEN and I-RAVEN unless told. A
 * model that was trained on all configurations gets as many of each.
 */
export const freshData = (
  facts: SubjectFacts,
  count: number,
  { variants = PAPER_VARIANTS, seed = FRESH_SEED }: FreshOptions = {},
): EvaluationData[] =>
  layoutsFor(facts).flatMap((layout) =>
    variants.map((variant) => ({
      source: generatedSource({ ...layout, variant, seed }, count, facts.imageSize),
      name: `fresh problems of our generator, seed ${seed}`,
      variant,
      ...(facts.mixed ? { configuration: layout.configuration } : {}),
      seed,
    })),
  );

export async function closeData(data: readonly EvaluationData[]): Promise<void> {
  for (const { source } of data) await source.close();
}

/** Opens data for a model, each by its path and the name it has in results; all of them or none. */
export async function openData(
  given: readonly { readonly location: string; readonly name?: string }[],
  facts: SubjectFacts,
  part: Part | 'all',
): Promise<EvaluationData[]> {
  const { configuration, noisy, imageSize: side } = facts;
  const opened: EvaluationData[] = [];
  try {
    for (const { location, name = location } of given) {
      const only = part === 'all' ? undefined : part;
      const source = await openProblems(location, { configuration, noisy, part: only, side });
      opened.push({ source });
      if (source.count === 0) {
        throw new ArgumentError(
          `--data ${location}: no problems of the part ${part}; --part of crab evaluate names another`,
        );
      }
      const { mesh, inWords } = await checkData(location, source, facts);
      // Candidates with a mesh differ in its lines too: they are of none of the variants in tables.
      const variant = mesh ? null : (source.variant ?? variantOf(location));
      opened[opened.length - 1] = { source, name: `${name}${inWords}`, variant };
    }
  } catch (error) {
    await closeData(opened);
    throw error;
  }
  return opened;
}

/** Data of one configuration in a folder: its sets (`raven_center_single.npz`, `center.npz`), or the folder. */
export async function dataIn(
  folder: string,
  { configuration, noisy }: SubjectFacts,
): Promise<{ readonly location: string; readonly name: string }[]> {
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory()) {
    const problem = found === null ? 'no such folder' : 'expected a folder of RAVEN or of sets';
    throw new ArgumentError(`--data ${folder}: ${problem}`);
  }
  const layout = layoutOf(configuration, noisy);
  const bases = [layout.folder, layoutName(layout)];
  const sets = (await readdir(folder))
    .filter((name) => name.endsWith('.npz'))
    .filter((name) =>
      bases.includes(name.slice(0, -4).replace(/^i?-?raven(-fair|-unique)?[_-]/i, '')),
    )
    .sort();
  if (sets.length === 0) return [{ location: folder, name: folder }];
  const shown = path.basename(path.resolve(folder));
  return sets.map((name) => ({ location: path.join(folder, name), name: path.join(shown, name) }));
}
