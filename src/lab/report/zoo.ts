/** Evaluates all models of a folder, bundles and runs, and writes pages, figures and numbers about them. */
import path from 'node:path';
import { ArgumentError } from '../../base/index.js';
import { isFile } from '../../base/node.js';
import { listZoo, zooFolder } from '../../solver/node.js';
import type { Device } from '../../torch/index.js';
import { writeZooCards } from '../card/index.js';
import { inOrder } from '../compare.js';
import { conditionsOf, describeData, isMadeUnder, type ChosenCounts } from '../conditions.js';
import { evaluateModel } from '../evaluate.js';
import {
  closeData,
  dataIn,
  FRESH_COUNTS,
  freshData,
  openData,
  type EvaluationData,
} from '../evaluation-data.js';
import type { ModelEvaluation } from '../evaluation.js';
import { modelsIn, openSubject, readFacts, requireRun } from '../open-subject.js';
import { readMeasurements, updateResults, writeMeasured } from '../results/index.js';
import type { SubjectFacts } from '../subject.js';
import { allFigures } from './model-figures.js';
import { modelPage } from './model-page.js';
import { ReportFolder } from './report-folder.js';
import { drawModel, writeFigures } from './report.js';
import { zooPage } from './zoo-page.js';
import { ZooProgress } from './zoo-progress.js';

export interface ZooOptions extends Pick<ChosenCounts, 'metrics' | 'problems' | 'repeats'> {
  /** Folder of the models; that of this package unless told. */
  readonly zoo?: string;
  /** Folder to write. */
  readonly out: string;
  /** Folders of RAVEN or of sets. */
  readonly data?: readonly string[];
  /** Fresh problems of each variant: 5,000 without data, and with data only if told. */
  readonly count?: number;
  /** Where models of runs work. */
  readonly device?: Device;
  /**
   * Folder of documents whose `measured/*.json` and tables in `results.md` are written too, and from
   * them the cards of the zoo.
   */
  readonly docs?: string;
  readonly signal?: AbortSignal;
  /** What is done now (`center: sa`), how far it is, and how far the whole report is, 0..1. */
  readonly onProgress?: (stage: string, share: number, whole: number) => void;
}

export interface ZooReport {
  readonly page: string;
  readonly evaluations: readonly ModelEvaluation[];
  /** Models that could not be opened, which the report is without. */
  readonly broken: readonly BrokenBundle[];
}

export interface BrokenBundle {
  readonly location: string;
  readonly error: unknown;
}

/** Uses the data for a model: given ones, and fresh problems if there are none or a count is asked for. */
async function withData<T>(
  facts: SubjectFacts,
  options: ZooOptions,
  use: (data: readonly EvaluationData[]) => Promise<T>,
): Promise<T> {
  const folders = options.data ?? [];
  const found = await Promise.all(folders.map((folder) => dataIn(folder, facts)));
  const given = await openData(found.flat(), facts, 'test');
  const fresh = folders.length === 0 || options.count !== undefined;
  try {
    return await use([
      ...(fresh ? freshData(facts, options.count ?? FRESH_COUNTS.zoo) : []),
      ...given,
    ]);
  } finally {
    await closeData(given);
  }
}

/** What is known of a model before anything is measured. */
interface Planned {
  readonly location: string;
  readonly name: string;
  /** Its evaluation, if the folder has one that was made under the same conditions. */
  readonly saved: ModelEvaluation | null;
}

interface Plan {
  readonly models: readonly Planned[];
  readonly broken: readonly BrokenBundle[];
}

/**
 * Opens every model and all data once, to report at the beginning what is wrong with them. A model that
 * cannot be opened is left out; with `docs` it is an error, because documents describe the whole zoo.
 */
async function plan(
  locations: readonly string[],
  folder: ReportFolder,
  options: ZooOptions,
): Promise<Plan> {
  const { signal, docs } = options;
  const models = new Map<string, Planned>();
  const broken: BrokenBundle[] = [];
  for (const location of locations) {
    signal?.throwIfAborted();
    let facts: SubjectFacts;
    try {
      facts = await readFacts(location, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (docs !== undefined || locations.length === 1) throw error;
      broken.push({ location, error });
      continue;
    }
    const { name } = facts;
    const one = await withData(facts, options, async (data) => {
      await folder.checkModel(name);
      const found = await folder.saved(name);
      const conditions = conditionsOf(facts, options);
      const matches = found !== null && isMadeUnder(found, conditions, await describeData(data));
      return { location, name, saved: matches ? found : null };
    });
    const other = models.get(name);
    if (other !== undefined) {
      throw new ArgumentError(
        `--zoo: the models ${other.location} and ${location} are both called ${name}`,
      );
    }
    models.set(name, one);
  }
  if (models.size === 0) throw broken[0].error;
  return { models: [...models.values()], broken };
}

/** Evaluates one model, unless that was done, and writes its page, its figures and its numbers. */
async function reportOne(
  { location, name, saved }: Planned,
  folder: ReportFolder,
  options: ZooOptions,
  progress: ZooProgress,
): Promise<ModelEvaluation> {
  const { signal, onProgress, metrics, problems, repeats, device } = options;
  const tell = (stage: string, share: number): void =>
    onProgress?.(`${name}: ${stage}`, share, progress.at(stage, share));
  const subject = await openSubject(location, { metrics, device, signal, onProgress: tell });
  try {
    return await withData(subject.facts, options, async (data) => {
      const asked = { model: name, data, metrics, problems, repeats, signal, onProgress: tell };
      const evaluation = saved ?? (await evaluateModel(subject, asked));
      tell('report', 0);
      const figures = await drawModel(evaluation, { model: subject, signal });
      await folder.writeModel(evaluation, modelPage(evaluation, figures));
      await writeFigures(allFigures(figures), folder.figuresOf(name), signal);
      onProgress?.(`${name}: report`, 1, progress.next());
      return evaluation;
    });
  } finally {
    await subject.dispose();
  }
}

/** Writes the report of a zoo: `index.html`, and a page, numbers and figures of every model. */
export async function reportZoo(options: ZooOptions): Promise<ZooReport> {
  const { zoo = zooFolder(), docs, device, signal } = options;
  const locations = (await modelsIn(zoo)).map((name) => path.join(zoo, name));
  if (locations.length === 0) {
    throw new ArgumentError(`--zoo ${zoo}: no bundles and no runs in this folder`);
  }
  await requireRun(device, locations, `${zoo} holds none`);
  if (docs !== undefined) {
    if (!(await isFile(path.join(docs, 'results.md')))) {
      throw new ArgumentError(`--docs ${docs}: no results.md in this folder`);
    }
    // Find out now what cannot be read, not after hours of measuring.
    await readMeasurements(docs);
  }
  const folder = new ReportFolder(options.out);
  await folder.checkIndex();
  const { models, broken } = await plan(locations, folder, options);
  await folder.keepOnly(models.flatMap(({ name, saved }) => (saved === null ? [] : [name])));
  const found: ModelEvaluation[] = [];
  const progress = new ZooProgress(
    models.map(({ saved }) => saved === null),
    options.metrics,
  );
  for (const one of models) {
    signal?.throwIfAborted();
    found.push(await reportOne(one, folder, options, progress));
  }
  const evaluations = inOrder(found);
  const page = await folder.writeIndex(zooPage(evaluations));
  if (docs !== undefined) {
    await writeMeasured(path.join(docs, 'measured'), evaluations);
    await updateResults(docs);
    if ((await listZoo(zoo)).length > 0) await writeZooCards({ zoo, docs, signal });
  }
  return { page, evaluations, broken };
}
