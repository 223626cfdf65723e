/** What grading gives: plain data for pages, tables and scripts. Shares are fractions 0..1. */
import type { Measured } from '../evaluation.js';
import type { ItemPictures } from './items.js';

export interface RespondentGrade {
  readonly name: string;
  readonly right: number;
  /** Items with a choice; the others count as wrong. */
  readonly answered: number;
  readonly share: number;
  /** Of the items whose time is told, those without a choice too; null if none is told. */
  readonly medianSeconds: number | null;
}

/** One of the eight candidates of an item. */
export interface ChoiceGrade {
  /** 1..8 */
  readonly candidate: number;
  readonly count: number;
  /** Of all respondents. */
  readonly share: number;
  /** Correlation of choosing it with the score on the other items: negative for a sound distractor. */
  readonly discrimination: number | null;
  /** What it gets wrong, empty for the answer; null if the items do not tell. */
  readonly violates: readonly string[] | null;
}

export interface ItemGrade {
  readonly id: string;
  readonly configuration: string | null;
  readonly rules: readonly string[] | null;
  /** 1..8 */
  readonly answer: number;
  /** Other candidates, 1..8, that count as right too. */
  readonly alsoRight: readonly number[];
  readonly right: number;
  /** Nothing chosen. */
  readonly omitted: number;
  /** Median time of the respondents, right or wrong; null if none is told. */
  readonly medianSeconds: number | null;
  /** Share of right answers, as test theory calls it: easy items have a large one. */
  readonly difficulty: number;
  /** Corrected item-total point-biserial correlation. */
  readonly discrimination: number | null;
  /** Alpha of the test without this item. */
  readonly alphaWithout: number | null;
  readonly choices: readonly ChoiceGrade[];
  /** What the model chose; null if it was not asked or cannot answer. */
  readonly modelChoice: number | null;
}

/** How often wrong choices get an attribute wrong. */
export interface AttributeGrade {
  readonly attribute: string;
  /** Wrong choices that violate it. */
  readonly count: number;
  /** Of all wrong choices whose violations are known. */
  readonly share: number;
  /** The same if wrong candidates had been taken at random. */
  readonly expected: number;
}

export interface ModelGrade {
  readonly names: readonly string[];
  readonly right: number;
  /** Items of a configuration that the model knows. */
  readonly answered: number;
  /** Of those it answered. */
  readonly share: number;
  /** Share of respondents with a lower score on the items that the model answered. */
  readonly above: number;
  /** Of the items where people chose wrong: how often the model's wrong choice is the most frequent one. */
  readonly sameError: number | null;
}

/** A reliability; too few respondents give no interval. */
export type Reliability =
  Measured | { readonly value: number; readonly low: null; readonly high: null };

export interface GradeResult {
  readonly responses: string;
  readonly items: readonly ItemGrade[];
  readonly respondents: readonly RespondentGrade[];
  readonly mean: number;
  readonly deviation: number | null;
  /** Cronbach's alpha, for items scored 0 or 1 the same as KR-20. */
  readonly alpha: Reliability | null;
  /** Standard error of measurement, in items. */
  readonly standardError: number | null;
  readonly attributes: readonly AttributeGrade[];
  readonly wrongChoices: number;
  /** Items of the key that nobody answered: they are not counted. Null if the items do not tell. */
  readonly unanswered: number | null;
  /** Items whose pictures cannot be made again from what `--items` tells. */
  readonly withoutPictures: number;
  readonly model: ModelGrade | null;
}

/** Whether the responses told how long choices took. */
export const hasTimes = ({ respondents }: GradeResult): boolean =>
  respondents.some(({ medianSeconds }) => medianSeconds !== null);

/** A result with the pictures of its items, for a page. */
export interface PicturedGrade {
  readonly result: GradeResult;
  readonly pictures: ReadonlyMap<string, ItemPictures>;
}
