/**
 * Everything a person can set, as one table of properties: each knows its name in the address, its
 * initial value, and how to read and write itself. The whole state lives behind the `#` of the page's
 * address, so a copied link restores it; what a link holds is checked like any input from outside.
 */
import {
  ALL_LAYOUTS,
  CONFIGURATIONS,
  layoutName,
  VARIANTS,
  type Variant,
} from '../../matrix/index.js';
import { EDITS_PATTERN } from '../engine/panel-edits.js';
import { DIFFICULTIES, type Difficulty } from '../engine/protocol.js';

export const TABS = ['play', 'erase', 'why', 'rules', 'compare', 'make', 'test', 'train'] as const;
export type Tab = (typeof TABS)[number];

export const TOUR_STEPS = 4;

/** The largest number of a matrix. */
export const MOST_SEED = 999_999_999;

/** Most items of each layout in a test. */
export const MOST_TEST_COUNT = 50;

export const BACKENDS = ['auto', 'wasm', 'webgpu'] as const;
export const DISTANCES = ['calibrated', 'l2'] as const;

/** Names of all layouts, noise-free ones first. */
export const LAYOUT_NAMES: readonly string[] = [...ALL_LAYOUTS]
  .sort((a, b) => Number(a.noisy) - Number(b.noisy))
  .map(layoutName);

/** A rule of one's own: its concept (1..M) and its place. */
interface ImposedRule {
  readonly concept: number;
  readonly x: number;
  readonly y: number;
}

export interface Settings {
  readonly tab: Tab;
  readonly layout: string;
  /** Name of a bundle other than the layout's own; empty for that one. */
  readonly model: string;
  readonly seed: number;
  readonly index: number;
  readonly variant: Variant;
  readonly difficulty: Difficulty;
  /** Erased panels, 1..9, rising. */
  readonly missing: readonly number[];
  /** The candidate a person chose, 1..8; 0 before. */
  readonly picked: number;
  /** Whether CRAB's answer is shown on the first tab. */
  readonly revealed: boolean;
  /** The concept looked at, 1..M; 0 for the liveliest. */
  readonly concept: number;
  readonly distance: (typeof DISTANCES)[number];
  readonly imposed: ImposedRule | null;
  /** Step of the tour, from 1; 0 without. */
  readonly tour: number;
  /** Which of several different answers is shown: 0 for the one CRAB finds likeliest. */
  readonly another: number;
  /** Whether the truth is shown in place of painted panels. */
  readonly truth: boolean;
  /** A chosen point of the rule map; -1 for none. */
  readonly point: number;
  /** A moment of training; -1 for the last. */
  readonly moment: number;
  /** JSON of rules and values of one's own; empty without. */
  readonly constraints: string;
  /** Panels changed by hand, as `writeEdits` has them; empty without. */
  readonly edits: string;
  /** Packed pictures of one's own; empty without. */
  readonly pictures: string;
  readonly backend: (typeof BACKENDS)[number];
  /** Layouts of a test, in their order. */
  readonly testLayouts: readonly string[];
  /** Items of each layout. */
  readonly testCount: number;
  /** The number of a test; not that of the matrix, so that no other tab shows what it asks. */
  readonly testSeed: number;
}

interface Property<T> {
  /** Name in the address. */
  readonly key: string;
  readonly initial: T;
  /** The value of a text, or undefined where it has none. */
  readonly read: (text: string) => T | undefined;
  readonly write: (value: T) => string;
}

const oneOf = <T extends string>(
  key: string,
  values: readonly T[],
  initial: T = values[0],
): Property<T> => ({
  key,
  initial,
  read: (text) => values.find((value) => value === text),
  write: String,
});

const integer = (key: string, initial: number, min: number, max: number): Property<number> => ({
  key,
  initial,
  read: (text) => {
    const value = Number(text);
    const sound = /^-?\d{1,16}$/.test(text) && value >= min && value <= max;
    return sound ? value : undefined;
  },
  write: String,
});

const text = (key: string, pattern: RegExp): Property<string> => ({
  key,
  initial: '',
  read: (given) => (pattern.test(given) ? given : undefined),
  write: String,
});

const missing: Property<readonly number[]> = {
  key: 'missing',
  initial: [9],
  read: (given) => {
    if (!/^[1-9]{0,8}$/.test(given)) return undefined;
    return [...new Set(given)].map(Number).sort((a, b) => a - b);
  },
  write: (positions) => positions.join(''),
};

const imposed: Property<ImposedRule | null> = {
  key: 'rule',
  initial: null,
  read: (given) => {
    const [concept, x, y, ...rest] = given.split(',').map(Number);
    const sound =
      rest.length === 0 &&
      Number.isInteger(concept) &&
      concept >= 1 &&
      concept <= 64 &&
      Math.abs(x) < 1e4 &&
      Math.abs(y) < 1e4;
    return sound ? { concept, x, y } : undefined;
  },
  write: (rule) =>
    rule === null ? '' : `${rule.concept},${rule.x.toFixed(3)},${rule.y.toFixed(3)}`,
};

const testLayouts: Property<readonly string[]> = {
  key: 'set',
  initial: CONFIGURATIONS,
  read: (given) => {
    const names = [...new Set(given.split(','))];
    return names.every((name) => LAYOUT_NAMES.includes(name)) ? names : undefined;
  },
  write: (names) => names.join(','),
};

const flag = (key: string): Property<boolean> => ({
  key,
  initial: false,
  read: (given) => (given === '1' ? true : given === '0' ? false : undefined),
  write: (value) => (value ? '1' : '0'),
});

const PROPERTIES: { readonly [Name in keyof Settings]: Property<Settings[Name]> } = {
  tab: oneOf('tab', TABS),
  layout: oneOf('config', LAYOUT_NAMES, 'center'),
  model: text('model', /^[a-z0-9][a-z0-9-]{0,63}$/),
  seed: integer('seed', 5, 0, MOST_SEED),
  index: integer('index', 0, 0, 999_999_999),
  variant: oneOf('candidates', VARIANTS, 'i-raven'),
  difficulty: oneOf('difficulty', DIFFICULTIES, 'standard'),
  missing,
  picked: integer('picked', 0, 0, 16),
  revealed: flag('shown'),
  concept: integer('concept', 0, 0, 64),
  distance: oneOf('distance', DISTANCES),
  imposed,
  tour: integer('tour', 0, 0, TOUR_STEPS),
  another: integer('another', 0, 0, 99),
  truth: flag('truth'),
  point: integer('point', -1, -1, 9999),
  moment: integer('moment', -1, -1, 63),
  constraints: text('make', /^\{.{0,4000}\}$/),
  edits: text('edit', EDITS_PATTERN),
  pictures: text('pictures', /^[\w-]{1,24000}$/),
  backend: oneOf('backend', BACKENDS),
  testLayouts,
  testCount: integer('count', 3, 1, MOST_TEST_COUNT),
  // Far from the matrix of the first visit and those that follow it.
  testSeed: integer('test', 1938, 0, MOST_SEED),
};

const NAMES = Object.keys(PROPERTIES) as (keyof Settings)[];

const partsOf = (hash: string): URLSearchParams => new URLSearchParams(hash.replace(/^#/, ''));

/** What an address says of a setting; null if nothing. */
export const settingInAddress = (name: keyof Settings, hash: string): string | null =>
  partsOf(hash).get(PROPERTIES[name].key);

/** Whether a text of an address is a value of a setting. */
export const readsSetting = (name: keyof Settings, text: string): boolean =>
  PROPERTIES[name].read(text) !== undefined;

/** A setting as an address has it. */
export function writeSetting<Name extends keyof Settings>(name: Name, settings: Settings): string {
  const { write }: Property<Settings[Name]> = PROPERTIES[name];
  return write(settings[name]);
}

function readOne<Name extends keyof Settings>(
  name: Name,
  address: URLSearchParams,
): Settings[Name] {
  const { key, initial, read }: Property<Settings[Name]> = PROPERTIES[name];
  const value = address.get(key);
  return value === null ? initial : (read(value) ?? initial);
}

/** Whether an address tells of a test but not of its number, which once was that of the matrix. */
const isOldTest = (address: URLSearchParams): boolean =>
  !address.has('test') &&
  (address.has('set') ||
    address.has('count') ||
    (address.get('tab') === 'test' && address.has('seed')));

/** Settings of an address; what is absent or makes no sense is at its initial value. */
export function readSettings(hash: string): Settings {
  const address = partsOf(hash);
  const settings = Object.fromEntries(
    NAMES.map((name) => [name, readOne(name, address)]),
  ) as unknown as Settings;
  return isOldTest(address) ? { ...settings, testSeed: settings.seed } : settings;
}

function writeOne<Name extends keyof Settings>(
  name: Name,
  settings: Settings,
): [string, string] | null {
  const { key, initial, write }: Property<Settings[Name]> = PROPERTIES[name];
  const value = writeSetting(name, settings);
  return value === write(initial) ? null : [key, value];
}

/** The part of an address behind `#`; only what differs from the initial values. */
export function writeSettings(settings: Settings): string {
  const address = new URLSearchParams();
  for (const name of NAMES) {
    const written = writeOne(name, settings);
    if (written !== null) address.set(...written);
  }
  if (isOldTest(address)) address.set('test', String(settings.testSeed));
  // A tab is always named, so that every link has something behind its `#`.
  if (!address.has('tab')) address.set('tab', settings.tab);
  return `#${address.toString()}`;
}
