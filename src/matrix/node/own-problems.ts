/**
 * Whether problems are those that a model is for. Data that tell that they are of another configuration are
 * refused, and pictures without labels that are of none. Data with a mesh, with noise that the model does not
 * know, or in part of other configurations or of none are called so: a model may be measured or trained on
 * them deliberately.
 */
import { ArgumentError, counted } from '../../base/index.js';
import { layoutOf } from '../layouts.js';
import { CONFIGURATIONS, type Configuration } from '../problem.js';
import type { ProblemSource } from '../set.js';
import { configurationsOf, hasMesh, OR, SEEN, shownLayout } from './data-configuration.js';

/** The problems that a model is for. */
export interface OwnProblems {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  /** It knows all configurations, with RAVEN's own noise. */
  readonly mixed?: boolean;
}

/** In what problems differ from a model's own. */
export interface Differences {
  readonly mesh: boolean;
  /** Such as ` (with noise)`, to follow a name; empty if all are its own. */
  readonly inWords: string;
}

/** Refuses problems that tell that they are not of a model's configuration. */
async function checkConfiguration(
  location: string,
  source: ProblemSource,
  configuration: Configuration,
): Promise<void> {
  const possible = await configurationsOf(location, source);
  if (possible.includes(configuration)) return;
  throw new ArgumentError(
    `--data ${location}: the data are of ${OR.format(possible)}, the model is for ${configuration}`,
  );
}

/** Whether problems of a configuration have a mesh, as far as their rules tell. */
async function showMesh(source: ProblemSource, configuration: Configuration): Promise<boolean> {
  const { label } = await source.read(0, Math.min(1, source.count));
  return label.some((each) => hasMesh(each, layoutOf(configuration).components.length));
}

/** Whether the panels of problems of a configuration show RAVEN's noise. */
async function showNoise(source: ProblemSource, configuration: Configuration): Promise<boolean> {
  const batch = await source.read(0, Math.min(SEEN, source.count));
  return shownLayout(batch, [configuration])?.noisy ?? false;
}

/** Problems from the first to the last that are recognised one by one. */
const SPREAD = 8;

/** What some problems of a source show, each by itself. */
interface ShownProblems {
  readonly looked: number;
  /** How many are of each configuration; those that are of none are missing. */
  readonly configurations: ReadonlyMap<Configuration, number>;
  /** Whether any of them tells its rules. */
  readonly labelled: boolean;
}

/** Recognises problems all over a source: the first ones need not be like the others. */
async function showProblems(source: ProblemSource): Promise<ShownProblems> {
  const looked = Math.min(SPREAD, source.count);
  const configurations = new Map<Configuration, number>();
  let labelled = false;
  for (let i = 0; i < looked; i++) {
    const at = looked === 1 ? 0 : Math.floor((i * (source.count - 1)) / (looked - 1));
    const batch = await source.read(at, 1);
    labelled ||= batch.label.some((label) => label.length > 0);
    const shown = shownLayout(batch, CONFIGURATIONS)?.configuration;
    if (shown !== undefined) configurations.set(shown, (configurations.get(shown) ?? 0) + 1);
  }
  return { looked, configurations, labelled };
}

/** Refuses pictures that nothing tells to be matrices. */
function checkMatrices(location: string, { configurations, labelled }: ShownProblems): void {
  if (labelled || configurations.size > 0) return;
  throw new ArgumentError(
    `--data ${location}: the pictures are of no configuration that we know, and no rules are told`,
  );
}

/** How many of some problems are not a model's own, in words; nothing if they all are. */
function foreignWords(
  { looked, configurations }: ShownProblems,
  { configuration, mixed }: OwnProblems,
): string {
  const others = [...configurations].filter(([each]) => !mixed && each !== configuration);
  const known = [...configurations.values()].reduce((sum, count) => sum + count, 0);
  const parts = others.map(([each, count]) => `${count} of ${each}`);
  if (known < looked) parts.push(`${looked - known} of no configuration that we know`);
  return parts.length === 0
    ? ''
    : ` (of ${counted(looked, 'problem')} looked at ${parts.join(', ')})`;
}

/** Refuses data that a model is not for, and tells in what they differ from its own problems. */
export async function checkData(
  location: string,
  source: ProblemSource,
  own: OwnProblems,
): Promise<Differences> {
  const { configuration, noisy, mixed } = own;
  if (!mixed) await checkConfiguration(location, source, configuration);
  const [shownAs] = mixed ? await configurationsOf(location, source) : [configuration];
  // Nothing more can be made out beside the lines of a mesh.
  if (await showMesh(source, shownAs)) return { mesh: true, inWords: ' (with a mesh)' };
  const noise = !mixed && !noisy && (await showNoise(source, configuration));
  const shown = await showProblems(source);
  checkMatrices(location, shown);
  return { mesh: false, inWords: (noise ? ' (with noise)' : '') + foreignWords(shown, own) };
}
