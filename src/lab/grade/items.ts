/**
 * The items people were given, found again from what `crab generate` wrote: a RAVEN folder (anyone's),
 * a folder of pictures with its `generate.json`, the answer file of `--answers`, or a set. Items are
 * looked up by name and read only when asked for.
 */
import type { Variant } from '../../matrix/index.js';
import type { Panel } from '../../solver/index.js';

/** What is known of an item. */
export interface TestItem {
  /** As results call it. */
  readonly id: string;
  /** Name of the configuration, `-noisy` if so; null if the source does not tell. */
  readonly layout: string | null;
  /** The right candidate, 1..8. */
  readonly answer: number;
  /** Others, 1..8, that are right by other rules which the panels allow too; empty for nearly every item. */
  readonly alsoRight: readonly number[];
  /** The rules in words; null if not known. */
  readonly rules: readonly string[] | null;
  /** What each of the eight candidates gets wrong; null if not known. */
  readonly violations: readonly (readonly Violation[])[] | null;
  /** What it was made from, if the source tells. */
  readonly made?: { readonly variant: Variant; readonly seed: number };
  /** The pictures; null if they cannot be made again. */
  readonly pictures: ItemPictures | null;
}

/** Whether a choice counts as right; nothing chosen does not. */
export const isRight = (
  { answer, alsoRight }: Pick<TestItem, 'answer' | 'alsoRight'>,
  choice: number | null,
): boolean => choice !== null && (choice === answer || alsoRight.includes(choice));

/** Names the items with a second right candidate; empty if there is none. */
export function severalRight(
  items: readonly Pick<TestItem, 'id' | 'answer' | 'alsoRight'>[],
): string {
  const several = items.filter(({ alsoRight }) => alsoRight.length > 0);
  if (several.length === 0) return '';
  const named = several.map(
    ({ id, answer, alsoRight }) => `${id} (${[answer, ...alsoRight].join(' or ')})`,
  );
  return `More than one candidate is right in ${named.join(', ')}: their panels allow other rules too. Each counts as right.`;
}

/** An attribute that a wrong candidate changes. */
export interface Violation {
  /** Number, Position, Type, Size or Color. */
  readonly attribute: string;
  /** With the component, if there are two: "Left: Size". */
  readonly text: string;
}

export interface ItemPictures {
  /** Eight panels. */
  readonly context: readonly Panel[];
  /** Eight candidates. */
  readonly candidates: readonly Panel[];
}

export interface ItemBank {
  /** The path as given. */
  readonly name: string;
  /** An item by its name as people wrote it; undefined if there is none. */
  find(name: string): Promise<TestItem | undefined>;
  /** How many items the test has, if the place tells: folders and sets may hold many more. */
  readonly count?: number;
  /** The name of some item, for messages. */
  readonly sample: string;
  /** Frees what is open, if anything is. */
  readonly close?: () => Promise<void>;
}

/** Names are compared without case, folder and ending: `Sheets/center-00001.PNG` is `center-00001`. */
export const itemKey = (name: string): string =>
  name
    .trim()
    .replace(/^.*[\\/]/, '')
    .replace(/\.(png|svg|npz|xml)$/i, '')
    .toLowerCase();

/** "Left: Size" as a violation. */
export const violationOf = (text: string): Violation => ({
  text,
  attribute: text.replace(/^.*: */, ''),
});
