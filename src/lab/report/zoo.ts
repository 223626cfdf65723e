/** Evaluates all bundles of a zoo and writes their pages, figures and numbers into one folder. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  ArgumentError,
  CONFIGURATIONS,
  layoutName,
  layoutOf,
  type ConfigurationLayout,
} from '../../matrix/index.js';
import { isFile, openProblems, openSet } from '../../matrix/node.js';
import { listZoo, zooFolder, type BundleManifest } from '../../solver/node.js';
import { writeZooCards } from '../card/index.js';
import { conditionsOf, describeData, isMadeUnder } from '../conditions.js';
import { checkConfiguration } from '../../matrix/node.js';
import { evaluateModel, type EvaluationData } from '../evaluate.js';
import type { MetricName, ModelEvaluation } from '../evaluation.js';
import { FRESH_COUNTS, freshData } from '../fresh-data.js';
import { updateResults, writeMeasured } from '../results/index.js';
import { openSubject, type OpenedSubject } from '../subject.js';
import { variantOf } from '../summary.js';
import { allFigures } from './model-figures.js';
import { modelPage } from './model-page.js';
import { ReportFolder } from './report-folder.js';
import { drawModel, writeFigures } from './report.js';
import { zooPage } from './zoo-page.js';

export interface ZooOptions {
  /** Folder of the bundles; that of this package unless told. */
  readonly zoo?: string;
  /** Folder to write. */
  readonly out: string;
  /** Folders of RAVEN or of sets. */
  readonly data?: readonly string[];
  /** Fresh problems of each variant: 5,000 without data, and with data only where told. */
  readonly count?: number;
  readonly metrics?: readonly MetricName[];
  /** Problems of GSA and ARI; repeats of GSA. */
  readonly problems?: number;
  readonly repeats?: number;
  /**
   * Folder of documents whose `measured/*.json` and tables in `results.md` are written too, and from
   * them the cards of the zoo.
   */
  readonly docs?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (stage: string, share: number) => void;
}

export interface ZooReport {
  readonly page: string;
  readonly evaluations: readonly ModelEvaluation[];
  /** Bundles that could not be opened, which the report is without. */
  readonly broken: readonly BrokenBundle[];
}

export interface BrokenBundle {
  readonly location: string;
  readonly error: unknown;
}

/** Sets of a folder that are of one layout: `raven_center_single.npz`, `center.npz`. */
async function setsOf(folder: string, layout: ConfigurationLayout): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.npz')).sort();
  const bases = [layout.folder, layoutName(layout)];
  return names
    .filter((name) => bases.includes(name.slice(0, -4).replace(/^i?-?raven[_-]/i, '')))
    .map((name) => path.join(folder, name));
}

async function givenData(
  folders: readonly string[],
  manifest: BundleManifest,
): Promise<EvaluationData[]> {
  const { configuration, noisy } = manifest;
  const layout = layoutOf(configuration, noisy);
  const data: EvaluationData[] = [];
  try {
    for (const folder of folders) {
      const found = await stat(folder).catch(() => null);
      if (found === null) throw new ArgumentError(`--data ${folder}: no such folder`);
      if (!found.isDirectory()) {
        throw new ArgumentError(`--data ${folder}: expected a folder of RAVEN or of sets`);
      }
      const sets = await setsOf(folder, layout);
      for (const file of sets) {
        const source = await openSet(file);
        data.push({
          source,
          name: path.join(path.basename(path.resolve(folder)), path.basename(file)),
          variant: variantOf(file),
        });
        await checkConfiguration(file, source, configuration);
      }
      if (sets.length > 0) continue;
      const source = await openProblems(folder, { configuration, noisy, part: 'test' });
      data.push({ source, name: folder, variant: variantOf(folder) });
      if (source.count === 0) {
        throw new ArgumentError(`--data ${folder}: no problems of ${configuration} for testing`);
      }
      await checkConfiguration(folder, source, configuration);
    }
  } catch (error) {
    for (const { source } of data) await source.close();
    throw error;
  }
  return data;
}

/** Given data, and fresh problems where there are none or a count of them is asked for. */
async function dataFor(options: ZooOptions, manifest: BundleManifest): Promise<EvaluationData[]> {
  const folders = options.data ?? [];
  const given = await givenData(folders, manifest);
  const fresh = folders.length === 0 || options.count !== undefined;
  return fresh ? [...freshData(manifest, options.count ?? FRESH_COUNTS.zoo), ...given] : given;
}

/** Uses an opened bundle with its data, and closes both again. */
async function withData<T>(
  subject: OpenedSubject,
  options: ZooOptions,
  use: (data: readonly EvaluationData[]) => Promise<T>,
): Promise<T> {
  try {
    const data = await dataFor(options, subject.solver.manifest);
    try {
      return await use(data);
    } finally {
      for (const { source } of data) await source.close();
    }
  } finally {
    await subject.dispose();
  }
}

/** What is known of a model before anything is measured. */
interface Planned {
  readonly location: string;
  readonly name: string;
  /** Its evaluation, where the folder has one that was made under the same conditions. */
  readonly saved: ModelEvaluation | null;
}

interface Plan {
  readonly models: readonly Planned[];
  readonly broken: readonly BrokenBundle[];
}

/**
 * Opens every bundle and all data once, so that what is wrong with them is told at the beginning. A
 * bundle that cannot be opened is left out; documents are of a whole zoo, so with them it is an error.
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
    let subject: OpenedSubject;
    try {
      subject = await openSubject(location, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (docs !== undefined || locations.length === 1) throw error;
      broken.push({ location, error });
      continue;
    }
    const { bundle, solver } = subject;
    const { name } = solver.manifest;
    const one = await withData(subject, options, async (data) => {
      await folder.checkModel(name);
      const found = await folder.saved(name);
      const conditions = conditionsOf(bundle, options);
      const matches = found !== null && isMadeUnder(found, conditions, await describeData(data));
      return { location, name, saved: matches ? found : null };
    });
    const other = models.get(name);
    if (other !== undefined) {
      throw new ArgumentError(
        `--zoo: the bundles ${other.location} and ${location} are both called ${name}`,
      );
    }
    models.set(name, one);
  }
  if (models.size === 0) throw broken[0].error;
  return { models: [...models.values()], broken };
}

/** Evaluates one bundle, unless that was done, and writes its page, its figures and its numbers. */
async function reportOne(
  { location, name, saved }: Planned,
  folder: ReportFolder,
  options: ZooOptions,
): Promise<ModelEvaluation> {
  const { signal, onProgress, metrics, problems, repeats } = options;
  const tell = (stage: string, share: number): void => onProgress?.(`${name}: ${stage}`, share);
  const subject = await openSubject(location, { signal });
  return withData(subject, options, async (data) => {
    const evaluation =
      saved ??
      (await evaluateModel(subject, {
        model: name,
        data,
        metrics,
        problems,
        repeats,
        signal,
        onProgress: tell,
      }));
    tell('report', 0);
    const figures = await drawModel(evaluation, { model: subject.solver, signal });
    await folder.writeModel(evaluation, modelPage(evaluation, figures));
    await writeFigures(allFigures(figures), folder.figuresOf(name), signal);
    return evaluation;
  });
}

/** Keeps what was measured beside the documents and fills their tables from it. */
async function writeResults(docs: string, evaluations: readonly ModelEvaluation[]): Promise<void> {
  await writeMeasured(path.join(docs, 'measured'), evaluations);
  await updateResults(docs);
}

const order = ({ configuration, noisy }: ModelEvaluation): number =>
  2 * CONFIGURATIONS.indexOf(configuration) + Number(noisy);

/** Writes the report of a zoo: `index.html`, and a page, numbers and figures of every model. */
export async function reportZoo(options: ZooOptions): Promise<ZooReport> {
  const zoo = options.zoo ?? zooFolder();
  const names = await listZoo(zoo);
  if (names.length === 0) throw new ArgumentError(`--zoo ${zoo}: no bundles in this folder`);
  if (options.docs !== undefined && !(await isFile(path.join(options.docs, 'results.md')))) {
    throw new ArgumentError(`--docs ${options.docs}: no results.md in this folder`);
  }
  const folder = new ReportFolder(options.out);
  await folder.checkIndex();
  const { models, broken } = await plan(
    names.map((name) => path.join(zoo, name)),
    folder,
    options,
  );
  await folder.keepOnly(models.flatMap(({ name, saved }) => (saved === null ? [] : [name])));
  const evaluations: ModelEvaluation[] = [];
  for (const one of models) {
    options.signal?.throwIfAborted();
    evaluations.push(await reportOne(one, folder, options));
  }
  evaluations.sort((a, b) => order(a) - order(b));
  const page = await folder.writeIndex(zooPage(evaluations));
  if (options.docs !== undefined) {
    await writeResults(options.docs, evaluations);
    await writeZooCards({ zoo, docs: options.docs, signal: options.signal });
  }
  return { page, evaluations, broken };
}
