/**
 * A test: its items, what a person answers and how long each takes, and what CRAB answers afterwards. The
 * list of items follows from the link alone. What was answered is kept while the browser's tab is open, so
 * that a page loaded again goes on where it was.
 */
import { computed, effect, signal } from '@preact/signals';
import {
  findLayout,
  HUMAN_ACCURACY,
  HUMAN_AVERAGE,
  itemName,
  CONFIGURATIONS,
  csvLine,
} from '../../matrix/index.js';
import type { MatrixView, SampledSpec } from '../engine/protocol.js';
import { change, engine, model, ready, settings, tab } from './store.js';

interface TestItem {
  /** As `crab generate` calls it. */
  readonly name: string;
  readonly spec: SampledSpec;
}

export interface Given {
  /** 1..8; 0 if it was left out. */
  readonly choice: number;
  readonly milliseconds: number;
  /** All right ones, 1..8: the item's own answer, then others that are right by other rules. */
  readonly right: readonly number[];
}

interface Session {
  readonly phase: 'start' | 'practice' | 'items' | 'end';
  readonly respondent: string;
  readonly given: readonly Given[];
  /** When the item at hand was first shown, in milliseconds since 1970; null before. */
  readonly since: number | null;
  /** CRAB's choices, 1..8, by the index of the item; null if it has none, absent before it was asked. */
  readonly models: Readonly<Record<number, number | null>>;
}

/** Who gave no name. */
export const ANONYMOUS = 'anonymous';

/** Another name whenever what is kept changes its form. */
const STORAGE = 'crab-studio-test-2';
const FRESH: Session = { phase: 'start', respondent: '', given: [], since: null, models: {} };

/** All that decides which items a test has. */
const testKey = computed(() => {
  const { testSeed, variant, testLayouts, testCount } = settings.value;
  return JSON.stringify([testSeed, variant, testLayouts, testCount]);
});

const specOf = (layout: string, index: number): SampledSpec => {
  const { testSeed: seed, variant } = settings.peek();
  const difficulty = 'standard';
  return { kind: 'sampled', layout, seed, index, variant, difficulty, constraints: '', edits: '' };
};

/** The items, one of each layout after the other. */
export const items = computed((): readonly TestItem[] => {
  void testKey.value;
  const { testLayouts, testCount } = settings.peek();
  return Array.from({ length: testCount }, (_, index) => index).flatMap((index) =>
    testLayouts.map((layout) => ({
      name: itemName(findLayout(layout), index),
      spec: specOf(layout, index),
    })),
  );
});

/** An item like the first, which is not in the test. */
export const practiceItem = computed((): SampledSpec => {
  void testKey.value;
  const { testLayouts, testCount } = settings.peek();
  return specOf(testLayouts[0], testCount);
});

function stored(): Session {
  try {
    const { key, session } = JSON.parse(sessionStorage.getItem(STORAGE) ?? '{}') as {
      key?: string;
      session?: Session;
    };
    return key === testKey.peek() && session !== undefined ? { ...FRESH, ...session } : FRESH;
  } catch {
    return FRESH;
  }
}

export const session = signal<Session>(stored());

function changeSession(changes: Partial<Session>): void {
  session.value = { ...session.peek(), ...changes };
  try {
    const kept = { key: testKey.peek(), session: session.peek() };
    sessionStorage.setItem(STORAGE, JSON.stringify(kept));
  } catch {
    // Refused storage: the test lasts as long as the page.
  }
}

// Another test begins at its start.
let known = testKey.peek();
effect(() => {
  if (testKey.value === known) return;
  known = testKey.value;
  changeSession(FRESH);
});

export const begin = (respondent: string): void =>
  changeSession({ ...FRESH, phase: 'practice', respondent });
export const startItems = (): void => changeSession({ phase: 'items', since: null });
export const startOver = (): void => changeSession(FRESH);

/** Starts the clock of the item at hand, once: it goes on while one is elsewhere. */
export const startClock = (): void => {
  if (session.peek().since === null) changeSession({ since: Date.now() });
};

/** Keeps an answer and goes on; after the last item the test is over. */
export function answerItem(choice: number, matrix: Pick<MatrixView, 'right'>): void {
  const { given, since } = session.peek();
  const now = Date.now();
  // A clock that was set back meanwhile must not give a time below zero.
  const milliseconds = Math.max(0, now - (since ?? now));
  const right = matrix.right.map((index) => index + 1);
  const all = [...given, { choice, right, milliseconds }];
  const phase = all.length < items.peek().length ? 'items' : 'end';
  changeSession({ given: all, since: null, phase });
}

/** Ends a test before its last item; without an answer there is nothing to tell. */
export const endTest = (): void =>
  session.peek().given.length === 0 ? startOver() : changeSession({ phase: 'end' });

/** The next item to ask CRAB, layout by layout, so that each model is loaded once; -1 if there is none. */
const nextForModel = computed((): number => {
  const { phase, given, models } = session.value;
  if (phase !== 'end') return -1;
  const open = given.flatMap((_, i) => (i in models ? [] : [i]));
  const layouts = open.map((i) => items.value[i].spec.layout);
  const current = layouts.indexOf(settings.value.layout);
  return open.at(Math.max(0, current)) ?? -1;
});

const isAsking = signal(false);

const keepModels = (item: number, choice: number | null): void =>
  changeSession({ models: { ...session.peek().models, [item]: choice } });

async function askModel(item: number, spec: SampledSpec): Promise<void> {
  isAsking.value = true;
  let choice: number | null = null;
  try {
    const { index } = await engine.choose(spec);
    choice = index === null ? null : index + 1;
  } catch {
    // Another tab took the model away: it is not scored on this item.
  }
  keepModels(item, choice);
  isAsking.value = false;
}

/** The configuration that was chosen before CRAB answered; null while it is the one on the page. */
let chosenLayout: string | null = null;

const showLayout = (layout: string): void =>
  change({ layout, model: '', concept: 0, point: -1, imposed: null, another: 0 });

// After the test CRAB answers the same items, one model after the other; then the page is as it was.
effect(() => {
  const next = nextForModel.value;
  if (next < 0 || tab.value !== 'test') {
    const before = chosenLayout;
    chosenLayout = null;
    if (before !== null) showLayout(before);
    return;
  }
  if (isAsking.value) return;
  const { spec } = items.value[next];
  const { layout } = settings.value;
  if (layout !== spec.layout) {
    chosenLayout ??= layout;
    showLayout(spec.layout);
    return;
  }
  const state = model.value;
  if (ready.value?.layout === spec.layout) void askModel(next, spec);
  else if (state.phase === 'failed' && state.name === spec.layout) keepModels(next, null);
});

/** Percent of RAVEN's problems of these layouts that people solve. */
export function humanPercent(layouts: readonly string[]): number {
  const configurations = layouts.map((name) => findLayout(name).configuration);
  const isAll =
    new Set(configurations).size === CONFIGURATIONS.length &&
    configurations.length === CONFIGURATIONS.length;
  if (isAll) return HUMAN_AVERAGE;
  const sum = configurations.reduce((total, name) => total + HUMAN_ACCURACY[name], 0);
  return sum / configurations.length;
}

/** The table that `crab grade` reads, with times. */
export function responsesCsv(): string {
  const { respondent, given } = session.peek();
  const rows = given.map(({ choice, milliseconds }, i) => {
    const { name, spec } = items.peek()[i];
    const seconds = (milliseconds / 1000).toFixed(3);
    const picked = choice === 0 ? '' : String(choice);
    const made = [spec.layout, spec.variant, String(spec.seed)];
    return [respondent, name, picked, ...made, String(i + 1), seconds];
  });
  const columns = ['respondent', 'item', 'choice', 'configuration', 'variant', 'seed'];
  const header = [...columns, 'order', 'seconds'];
  return [header, ...rows].map((row) => `${csvLine(row)}\r\n`).join('');
}
