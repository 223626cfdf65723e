/**
 * What a solver can be asked, and what it answers. Panels and concepts are counted from 1. Candidates are
 * given as an array and told by their index in it, which counts from 0; commands and files count all of
 * them from 1.
 */
import { ArgumentError } from '../base/index.js';
import { MATRIX_PANELS } from '../matrix/index.js';
import type { BundleManifest } from './bundle.js';
import type { Panel, PanelInput } from './panels.js';
import type { Foretold } from './vocabulary.js';

export interface Cancellable {
  readonly signal?: AbortSignal;
}

/** Panels of a matrix: nine, of which those at missing positions are ignored, or only the others. */
export type MatrixInput = readonly (PanelInput | null | undefined)[];

/** Rules to use in place of the parsed ones, by the number (1..M) or the name of their concept. */
export type ImposedRules = Readonly<Record<string | number, readonly number[]>>;

/** The ways to paint a missing panel. */
export const PAINTS = ['likeliest', 'careful', 'mean'] as const;
export type Paint = (typeof PAINTS)[number];

export interface SolveOptions extends Cancellable {
  /** Positions 1..9, row by row; [9] unless told. */
  readonly missing?: readonly number[];
  readonly rules?: ImposedRules;
  /**
   * What to paint: the likeliest panel (unless told), the likeliest after second thoughts (`careful`: right
   * more often if one panel is missing, and slower), or the mean of all possible ones.
   */
  readonly paint?: Paint;
  /** Whether to draw the missing panels; without, only concepts and rules are worked out. */
  readonly images?: boolean;
}

/** One of several problems solved together. */
export interface Question extends Pick<SolveOptions, 'missing' | 'rules'> {
  readonly panels: MatrixInput;
}

export interface SampleOptions extends SolveOptions {
  /** How many answers. */
  readonly count: number;
  /** The same seed gives the same answers. */
  readonly seed: number;
}

/** Means of the concepts of one panel: M arrays of d_z values. */
export type ConceptMeans = readonly Float32Array[];

/** The rule of one concept. */
export interface RuleReading {
  /** 1..M */
  readonly concept: number;
  readonly name: string | null;
  /** The rule that was used: d_r values. */
  readonly vector: readonly number[];
  /** What was parsed from the context, and its standard deviation. */
  readonly parsed: readonly number[];
  readonly deviation: readonly number[];
  readonly imposed: boolean;
  /** Probability of each of the model's global rules; null if the bundle knows none. */
  readonly categories: readonly number[] | null;
}

/** What one group of concepts shows in a panel. */
export interface SymbolReading {
  /** An entry of the vocabulary, counted from 1; null if the panel shows none that is known. */
  readonly entry: number | null;
  /** 1 in given panels; in imagined ones how likely this entry is. */
  readonly probability: number;
}

/** A missing panel as the vocabulary has it. */
export interface ImaginedPanel {
  /** For each group, how likely each of its entries is. */
  readonly foretold: readonly Foretold[];
  /** Concepts of the likeliest panel: what is painted. */
  readonly concepts: ConceptMeans;
  /** Whether something known was near in every group; if not, the mean is painted there. */
  readonly known: boolean;
}

export interface Answer {
  /** Positions that were missing, rising. */
  readonly missing: readonly number[];
  /**
   * The imagined panels, one for each missing position; empty with `images: false`. The likeliest panel of
   * the vocabulary, or with `paint: 'mean'` (or without a vocabulary) the mean of all that are possible.
   */
  readonly images: readonly Panel[];
  /** Symbols of all nine panels, one for each group; null if the bundle has no vocabulary. */
  readonly symbols: readonly (readonly SymbolReading[])[] | null;
  /** The missing panels in terms of the vocabulary; null if the bundle has none. */
  readonly imagined: readonly ImaginedPanel[] | null;
  /** For all nine panels: encoded if present, predicted if missing. */
  readonly concepts: readonly ConceptMeans[];
  /** One for each concept; empty for a model without rules. */
  readonly rules: readonly RuleReading[];
}

/** One of several different answers. */
export interface Alternative {
  /** How likely this one is; those of all alternatives add up to 1. */
  readonly probability: number;
  /** One panel for each missing position. */
  readonly images: readonly Panel[];
  readonly concepts: readonly ConceptMeans[];
  /** Entries for each missing position and group, counted from 1; null if none is known. */
  readonly symbols: readonly (readonly (number | null)[])[];
}

/** What is offered: a panel for one missing position, or as many panels as are missing. */
export type CandidateInput = PanelInput | readonly PanelInput[];

export interface ChooseOptions extends Cancellable {
  /** The bundle's own (calibrated if it can) unless told. */
  readonly distance?: 'l2' | 'calibrated';
}

/** What is chosen from. */
export interface Offered {
  readonly candidates: readonly CandidateInput[];
  /** The candidates as given, if they were drawn anew: these tell which of them are the same picture. */
  readonly originals?: readonly CandidateInput[];
}

/** How a candidate lies from the answer. */
export interface CandidateReport {
  /** Squared distance of concept means, and the share of each concept. */
  readonly l2: number;
  readonly l2Shares: readonly number[];
  /** Null if the bundle has no statistics. */
  readonly calibrated: number | null;
  readonly calibratedShares: readonly number[] | null;
  /**
   * Added to the calibrated distance of a candidate that was painted, because its description is about as near
   * as the nearest: how much worse this description paints it than another one, 0 for the one painted best.
   * Null if it was not painted; see `ties.ts`.
   */
  readonly painted: number | null;
  /** Among the candidates offered. */
  readonly probability: number;
}

export interface Choice {
  /** The chosen candidate: its index in what was offered, counted from 0. */
  readonly index: number;
  /** Its probability among the candidates. */
  readonly confidence: number;
  readonly distance: 'l2' | 'calibrated';
  readonly candidates: readonly CandidateReport[];
  /**
   * Groups of candidates that are the same picture, by their indices counted from 0; empty if all differ.
   * No model can tell these apart: they share their probability.
   */
  readonly identical: readonly (readonly number[])[];
}

/** A missing set in rising order; anything but 1 to 8 different positions of 1..9 is an error. */
export function checkMissing(missing: readonly number[]): number[] {
  const list = Array.isArray(missing) ? (missing as readonly number[]) : [];
  const sound =
    list.every((at) => Number.isInteger(at) && at >= 1 && at <= MATRIX_PANELS) &&
    new Set(list).size === list.length &&
    list.length >= 1 &&
    list.length < MATRIX_PANELS;
  if (!sound) {
    throw new ArgumentError(
      `missing [${list.join(', ')}]: expected 1 to 8 different positions of 1..9`,
    );
  }
  return [...list].sort((a, b) => a - b);
}

/** The index (0..M-1) of a concept by its number (from 1) or name. */
export function conceptIndex(concept: number | string, manifest: BundleManifest): number {
  const { conceptNames, sizes } = manifest;
  const byName = conceptNames.findIndex((known) => known?.name === concept);
  const index = byName >= 0 ? byName : Number(concept) - 1;
  if (!Number.isInteger(index) || index < 0 || index >= sizes.concepts) {
    const names = conceptNames.flatMap((known) => (known === null ? [] : [known.name]));
    throw new ArgumentError(
      `concept ${JSON.stringify(concept)}: expected 1 to ${sizes.concepts}${names.length > 0 ? ` or one of ${names.join(', ')}` : ''}`,
    );
  }
  return index;
}
