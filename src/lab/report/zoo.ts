/** Evaluates all bundles of a zoo and writes their pages, figures and numbers into one folder. */
import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  ArgumentError,
  CONFIGURATIONS,
  layoutName,
  layoutOf,
  VARIANTS,
  type ConfigurationLayout,
} from '../../matrix/index.js';
import { openProblems, openSet, writeFileAtomically } from '../../matrix/node.js';
import { listZoo, zooFolder, type BundleManifest } from '../../solver/node.js';
import { writeZooCards } from '../card/index.js';
import { evaluateModel, type EvaluationData } from '../evaluate.js';
import type { MetricName, ModelEvaluation } from '../evaluation.js';
import { generatedSource } from '../metrics/generated-source.js';
import { updateResults, writeMeasured } from '../results/index.js';
import { openSubject } from '../subject.js';
import { variantOf } from '../summary.js';
import { allFigures } from './model-figures.js';
import { modelPage } from './model-page.js';
import { drawModel, writeFigures } from './report.js';
import { zooPage } from './zoo-page.js';

export interface ZooOptions {
  /** Folder of the bundles; that of this package unless told. */
  readonly zoo?: string;
  /** Folder to write. */
  readonly out: string;
  /** Folders of RAVEN or of sets; fresh problems where absent. */
  readonly data?: readonly string[];
  /** Fresh problems of each variant, 2,000 unless told. */
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
}

const DEFAULT_COUNT = 2000;
const DATA_SEED = 7_700_000_017;

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
      if (!(await stat(folder)).isDirectory()) {
        throw new ArgumentError(`--data ${folder}: expected a folder of RAVEN or of sets`);
      }
      const sets = await setsOf(folder, layout);
      for (const file of sets) {
        data.push({
          source: await openSet(file),
          name: path.join(path.basename(path.resolve(folder)), path.basename(file)),
          variant: variantOf(file),
        });
      }
      if (sets.length > 0) continue;
      const source = await openProblems(folder, { configuration, noisy, part: 'test' });
      data.push({ source, name: folder, variant: variantOf(folder) });
    }
  } catch (error) {
    for (const { source } of data) await source.close();
    throw error;
  }
  return data;
}

function freshData({ configuration, noisy }: BundleManifest, count: number): EvaluationData[] {
  return VARIANTS.map((variant) => {
    const source = generatedSource({ configuration, noisy, variant, seed: DATA_SEED }, count);
    return { source, name: `fresh problems of our generator, seed ${DATA_SEED}`, variant };
  });
}

/** Evaluates one bundle and writes its page, its figures and its numbers. */
async function reportOne(location: string, options: ZooOptions): Promise<ModelEvaluation> {
  const { out, signal, onProgress } = options;
  const subject = await openSubject(location, { signal });
  const { manifest } = subject.solver;
  const tell = (stage: string, share: number): void =>
    onProgress?.(`${manifest.name}: ${stage}`, share);
  try {
    const data =
      options.data === undefined || options.data.length === 0
        ? freshData(manifest, options.count ?? DEFAULT_COUNT)
        : await givenData(options.data, manifest);
    try {
      const evaluation = await evaluateModel(subject, {
        model: manifest.name,
        data,
        metrics: options.metrics,
        problems: options.problems,
        repeats: options.repeats,
        signal,
        onProgress: tell,
      });
      tell('report', 0);
      const figures = await drawModel(evaluation, { model: subject.solver, signal });
      const file = (ending: string): string => path.join(out, `${manifest.name}.${ending}`);
      await writeFileAtomically(file('html'), modelPage(evaluation, figures));
      await writeFileAtomically(file('json'), `${JSON.stringify(evaluation)}\n`);
      await writeFigures(allFigures(figures), path.join(out, 'figures', manifest.name), signal);
      return evaluation;
    } finally {
      for (const { source } of data) await source.close();
    }
  } finally {
    await subject.dispose();
  }
}

/** Keeps what was measured beside the documents and fills their tables from it. */
async function writeResults(docs: string, evaluations: readonly ModelEvaluation[]): Promise<void> {
  const folder = path.join(docs, 'measured');
  await mkdir(folder, { recursive: true });
  for (const evaluation of evaluations) await writeMeasured(folder, evaluation);
  await updateResults(docs);
}

const order = ({ configuration, noisy }: ModelEvaluation): number =>
  2 * CONFIGURATIONS.indexOf(configuration) + Number(noisy);

const isFile = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false,
  );

/** Writes the report of a zoo: `index.html`, and a page, numbers and figures of every model. */
export async function reportZoo(options: ZooOptions): Promise<ZooReport> {
  const zoo = options.zoo ?? zooFolder();
  const names = await listZoo(zoo);
  if (names.length === 0) throw new ArgumentError(`--zoo ${zoo}: no bundles in this folder`);
  if (options.docs !== undefined && !(await isFile(path.join(options.docs, 'results.md')))) {
    throw new ArgumentError(`--docs ${options.docs}: no results.md in this folder`);
  }
  await mkdir(options.out, { recursive: true });
  const evaluations: ModelEvaluation[] = [];
  for (const name of names) {
    options.signal?.throwIfAborted();
    evaluations.push(await reportOne(path.join(zoo, name), options));
  }
  evaluations.sort((a, b) => order(a) - order(b));
  const page = path.join(options.out, 'index.html');
  await writeFileAtomically(page, zooPage(evaluations));
  if (options.docs !== undefined) {
    await writeResults(options.docs, evaluations);
    await writeZooCards({ zoo, docs: options.docs, signal: options.signal });
  }
  return { page, evaluations };
}
