/**
 * Models compared with each other and with the paper: those of one system and preset make one row, with a
 * cell for each configuration. All tables of accuracy, in documents and on pages, are made from these.
 */
import {
  ALL_LAYOUTS,
  CONFIGURATIONS,
  layoutName,
  paperName,
  type Configuration,
  PAPER_VARIANTS,
  type Variant,
} from '../matrix/index.js';
import type { Measured, ModelEvaluation, SelectionResult } from './evaluation.js';
import { NOTHING } from './markdown.js';
import { meanOf } from './statistics.js';

/** A share, with its interval if one was measured. */
export type Share = Pick<Measured, 'value'> & Partial<Measured>;

/** Accuracy on one set of problems: measured, or as a bundle tells it. */
export interface ComparedResult extends Omit<SelectionResult, 'sa' | 'saL2'> {
  readonly sa: Share;
  readonly saL2?: Share;
}

/** What is asked of a model here; measurements that are kept have it too. */
export interface Compared extends Pick<
  ModelEvaluation,
  'system' | 'preset' | 'configuration' | 'noisy'
> {
  readonly selection: readonly ComparedResult[] | null;
}

/** Models of one system and preset. */
export interface Group<M extends Compared = Compared> {
  readonly system: string;
  readonly preset: string;
  /** `ours` for CRAB, the system's name for others; with the preset if that tells groups apart. */
  readonly label: string;
  readonly models: readonly M[];
}

/** Groups in the order they first appear. */
export function groupsOf<M extends Compared>(models: readonly M[]): Group<M>[] {
  const presets = new Map<string, Map<string, M[]>>();
  for (const model of models) {
    const own = presets.get(model.system) ?? new Map<string, M[]>();
    presets.set(model.system, own);
    own.set(model.preset, [...(own.get(model.preset) ?? []), model]);
  }
  return [...presets].flatMap(([system, own]) =>
    [...own].map(([preset, found]) => {
      const name = system === 'crab' ? 'ours' : system;
      return { system, preset, label: own.size > 1 ? `${name} ${preset}` : name, models: found };
    }),
  );
}

/** The configuration as the paper calls it, e.g. `2x2Grid` or `2x2Grid, noisy`; other systems by name too. */
export function modelTitle({ configuration, noisy, system }: Compared): string {
  const title = `${paperName(configuration)}${noisy ? ', noisy' : ''}`;
  return system === 'crab' ? title : `${title}, ${system}`;
}

/** Models by system, each in the order of the configurations, the noisy ones last. */
export function inOrder<M extends Compared>(models: readonly M[]): M[] {
  const names = [...ALL_LAYOUTS]
    .sort((a, b) => Number(a.noisy) - Number(b.noisy))
    .map((layout) => layoutName(layout));
  const place = (model: M): number => names.indexOf(layoutName(model));
  return groupsOf(models).flatMap(({ models: own }) =>
    [...own].sort((a, b) => place(a) - place(b)),
  );
}

/** Which results are meant: those on fresh problems, or on data that were given. */
export type Which = (result: Pick<SelectionResult, 'seed'>) => boolean;
export const isFresh: Which = ({ seed }) => seed !== undefined;
export const isGiven: Which = (result) => !isFresh(result);

/** Fresh problems if one of the models was measured on some, else what they were measured on. */
export const freshOrGiven = (models: readonly Compared[]): Which =>
  models.some(({ selection }) => selection?.some(isFresh)) ? isFresh : isGiven;

type ResultOf<M extends Compared> = NonNullable<M['selection']>[number];

/** The result on most problems of a variant, and of the model's configuration if it was measured on several. */
export const resultOf = <M extends Compared>(
  model: M | undefined,
  variant: Variant,
  which: Which,
): ResultOf<M> | undefined =>
  [...((model?.selection ?? []) as readonly ResultOf<M>[])]
    .filter(({ configuration = model?.configuration }) => configuration === model?.configuration)
    .filter((each) => each.variant === variant && which(each))
    .sort((a, b) => b.count - a.count)[0];

/** The models of a group by configuration: the paper's grids have no noise. */
export const byConfiguration = <M extends Compared>(
  models: readonly M[],
): ReadonlyMap<Configuration, M> =>
  new Map(models.filter(({ noisy }) => !noisy).map((each) => [each.configuration, each]));

/** Accuracy with RAVEN and with I-RAVEN candidates, fractions. */
export type Pair = readonly (number | null)[];

export const pairText = (pair: Pair, unknown: string, between: string): string =>
  pair.map((share) => (share === null ? unknown : (100 * share).toFixed(1))).join(between);

/** The same in a table of Markdown. */
export const pairCell = (pair: Pair): string => pairText(pair, NOTHING, ' / ');

/** A row of Table 1: the average, only if all seven are measured, and a cell for each configuration. */
export interface AccuracyRow {
  readonly average: Pair;
  readonly cells: readonly Pair[];
}

/** The row of a group, by its own measure or by plain L2; null if no model has such a figure. */
export function accuracyRow(
  { models }: Pick<Group, 'models'>,
  measure: 'sa' | 'saL2',
  which = freshOrGiven(models),
): AccuracyRow | null {
  const found = byConfiguration(models);
  const cells = CONFIGURATIONS.map((configuration) =>
    PAPER_VARIANTS.map(
      (variant) => resultOf(found.get(configuration), variant, which)?.[measure]?.value ?? null,
    ),
  );
  if (cells.flat().every((share) => share === null)) return null;
  const average = PAPER_VARIANTS.map((_, v) => {
    const known = cells.map((pair) => pair[v]).filter((share) => share !== null);
    return known.length === cells.length ? meanOf(known) : null;
  });
  return { average, cells };
}
