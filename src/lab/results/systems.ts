/**
 * Trainings of all systems set beside each other: those of one system, preset and tag make one row, with a
 * cell for each configuration. Tables and figures of systems are made from these.
 */
import type { Configuration, Variant } from '../../matrix/index.js';
import { SYSTEMS, systemNamed, type System } from '../../models/index.js';
import { accuracyRow, isFresh, type AccuracyRow, type Compared, type Which } from '../compare.js';
import { gsaPointAt, type GsaPoint } from '../evaluation.js';
import { meanOf } from '../statistics.js';
import type { MeasuredTraining } from './training.js';

export const BLIND = 'context-blind';
/** Trained with the candidates of I-RAVEN in place of RAVEN's. */
export const ON_I_RAVEN = 'i-raven';

export type Trainings = readonly MeasuredTraining[];

/** The preset that follows the paper; for CRAB, what its authors' program does. */
export const publishedPreset = (system: string): string =>
  system === 'crab' ? 'released' : 'paper';

/** The preset with fresh problems for as long as it trains. */
const endlessPreset = ({ name, positions }: Pick<System, 'name' | 'positions'>): string =>
  name === 'crab' ? 'crab' : positions === 'any' ? 'ours' : 'endless';

/** Trainings of a system and preset, without tag unless told. */
export const trainingsOf = (
  trainings: Trainings,
  system: string,
  preset: string,
  tag: string | null = null,
): MeasuredTraining[] =>
  trainings.filter((each) => each.system === system && each.preset === preset && each.tag === tag);

/** CRAB's released preset, but with a target of its own for each problem, as its paper describes it. */
const OWN_TARGETS = 'own-targets';

/** Trainings of a system as it was published. */
export function publishedTrainings(trainings: Trainings, system: string): MeasuredTraining[] {
  const preset = publishedPreset(system);
  const plain = trainingsOf(trainings, system, preset);
  return plain.length > 0 ? plain : trainingsOf(trainings, system, preset, OWN_TARGETS);
}

/** Trainings of a system with fresh problems for as long as it trains. */
export const endlessTrainings = (trainings: Trainings, system: string): MeasuredTraining[] =>
  trainingsOf(trainings, system, endlessPreset(systemNamed(system)));

export interface TrainingGroup {
  readonly system: string;
  readonly preset: string;
  readonly tag: string | null;
  readonly trainings: Trainings;
}

/** All trainings in groups: systems in the order of the registry, their presets in their own, plain ones first. */
export function trainingGroups(trainings: Trainings): TrainingGroup[] {
  const tags = [null, ...new Set(trainings.map(({ tag }) => tag).filter((tag) => tag !== null))];
  return SYSTEMS.flatMap(({ name, presets }) =>
    presets.flatMap((preset) =>
      tags.map((tag) => ({
        ...{ system: name, preset, tag },
        trainings: trainingsOf(trainings, name, preset, tag),
      })),
    ),
  ).filter(({ trainings: own }) => own.length > 0);
}

/** Trainings as tables of accuracy compare models: a joint one has a cell in every configuration. */
export const comparedOf = ({
  system,
  preset,
  configuration,
  evaluation,
}: MeasuredTraining): Compared[] => {
  const { selection = [] } = evaluation;
  const several = [...new Set(selection.map((each) => each.configuration ?? configuration))];
  return several.map((own) => ({
    ...{ system, preset, noisy: false, configuration: own },
    selection: selection.filter((each) => (each.configuration ?? configuration) === own),
  }));
};

/** The row of Table 1 of some trainings, on fresh problems unless told; null if none has such a figure. */
export const trainingRow = (
  trainings: Trainings,
  measure: 'sa' | 'saL2',
  which: Which = isFresh,
): AccuracyRow | null => accuracyRow({ models: trainings.flatMap(comparedOf) }, measure, which);

/** By plain L2 as in the paper, if the system has concepts; else by its own score. */
export const printedRow = (trainings: Trainings, which?: Which): AccuracyRow | null =>
  trainingRow(trainings, 'saL2', which) ?? trainingRow(trainings, 'sa', which);

/** Accuracy of one training on fresh problems, as the paper measures it; null if it was not. */
export function trainingShare(training: MeasuredTraining, variant: Variant): number | null {
  const found = training.evaluation.selection?.find(
    (each) => each.variant === variant && isFresh(each),
  );
  return (found?.saL2 ?? found?.sa)?.value ?? null;
}

/** The mean over trainings; null if one of them has no value, or there are none. */
export function meanOverTrainings(
  trainings: Trainings,
  value: (training: MeasuredTraining) => number | null | undefined,
): number | null {
  const known = trainings.map(value).filter((each) => each !== null && each !== undefined);
  return known.length === 0 || known.length < trainings.length ? null : meanOf(known);
}

type GsaKey = Pick<GsaPoint, 'targets' | 'candidates'>;

/** GSA of a training as the paper measures it: by plain L2 if it has concepts, all targets together. */
export function trainingGsa(
  { evaluation }: MeasuredTraining,
  { targets, candidates }: GsaKey,
): number | null {
  const found = gsaPointAt(evaluation.gsa ?? [], targets, candidates);
  return found?.accuracyL2 ?? found?.accuracy ?? null;
}

/** The groups that tables show of a system: as published, and with endless problems; either may be empty. */
export const shownGroups = (trainings: Trainings, { name }: System): TrainingGroup[] =>
  [publishedTrainings(trainings, name), endlessTrainings(trainings, name)].map((own, i) => ({
    system: name,
    preset: i === 0 ? publishedPreset(name) : endlessPreset(systemNamed(name)),
    tag: own.at(0)?.tag ?? null,
    trainings: own,
  }));

/** The same of the systems that answer anywhere, of what was trained. */
export const anywhereGroups = (trainings: Trainings): TrainingGroup[] =>
  SYSTEMS.filter(({ positions }) => positions === 'any')
    .flatMap((system) => shownGroups(trainings, system))
    .filter(({ trainings: own }) => own.length > 0);

/** A preset as tables name it. */
export const presetTitle = ({ preset, tag }: Pick<TrainingGroup, 'preset' | 'tag'>): string =>
  `\`${preset}\`${tag === null ? '' : `, ${tag}`}`;

/** A training of a configuration. */
export const inConfiguration = (
  trainings: Trainings,
  configuration: Configuration,
): MeasuredTraining | undefined =>
  trainings.find((training) => training.configuration === configuration);
