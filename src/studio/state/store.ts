/** The page's state: settings in the address, and what the engine works out from them. */
import { computed, effect, signal } from '@preact/signals';
import { messageOf } from '../../base/index.js';
import { startEngine } from '../engine/client.js';
import { newestOnly } from '../engine/newest-only.js';
import type {
  AnswersView,
  AnswerView,
  ChoiceView,
  Imposed,
  LoadProgress,
  MatrixSpec,
  MatrixView,
  ModelInfo,
  PlaneView,
} from '../engine/protocol.js';
import { withTourMatrix } from '../tour/steps.js';
import { linkFaults } from './link-faults.js';
import { resource } from './resource.js';
import { readSettings, writeSettings, type Settings } from './settings.js';

/** How far the model is. */
type ModelState =
  | { readonly phase: 'loading'; readonly name: string; readonly share: number }
  /** All there, being compiled and tried once. */
  | { readonly phase: 'preparing'; readonly name: string }
  | { readonly phase: 'ready'; readonly info: ModelInfo }
  | { readonly phase: 'failed'; readonly name: string; readonly fault: string };

const readAddress = (): Settings => withTourMatrix(readSettings(location.hash));

export const settings = signal<Settings>(readAddress());

/** The address that was last opened, and the settings that were read from it. */
const opened = signal({ hash: location.hash, settings: settings.peek() });
/** What of it was not understood; gone for each setting that was changed since. */
export const foundInLink = computed(() => {
  const { hash, settings: first } = opened.value;
  const now = settings.value;
  // Another matrix or test is no longer the one that the link was about.
  const isLeft = now.seed !== first.seed || now.testSeed !== first.testSeed;
  return isLeft ? [] : linkFaults(hash, first).filter(({ name }) => now[name] === first[name]);
});

/** Changes settings; `push` makes it a step for the browser's Back. */
export function change(changes: Partial<Settings>, push = false): void {
  const next = { ...settings.peek(), ...changes };
  const hash = writeSettings(next);
  if (push && hash !== location.hash) {
    writeAddress();
    history.pushState(null, '', hash);
  }
  settings.value = next;
}

/** What belongs to one matrix and goes with it. */
const FRESH: Partial<Settings> = {
  picked: 0,
  revealed: false,
  another: 0,
  imposed: null,
  tour: 0,
};

/** The changes that show another matrix: everything said about the old one is forgotten. */
export const ofMatrix = (changes: Partial<Settings>): Partial<Settings> => ({
  index: 0,
  pictures: '',
  constraints: '',
  edits: '',
  ...FRESH,
  ...changes,
});

export const changeMatrix = (changes: Partial<Settings>, push = true): void =>
  change(ofMatrix(changes), push);

function writeAddress(): void {
  const hash = writeSettings(settings.peek());
  if (hash !== location.hash) history.replaceState(history.state, '', hash);
}

/**
 * The address follows at once, but while something is dragged only now and then: browsers refuse more
 * than about a hundred changes in half a minute.
 */
const ADDRESS_BURST = 20;
const ADDRESS_MILLISECONDS = 500;
let addressChanges = ADDRESS_BURST;
let addressCounted = performance.now();
let addressTimer: ReturnType<typeof setTimeout> | null = null;
effect(() => {
  void settings.value;
  if (addressTimer !== null) return;
  const now = performance.now();
  const regained = (now - addressCounted) / ADDRESS_MILLISECONDS;
  addressChanges = Math.min(ADDRESS_BURST, addressChanges + regained);
  addressCounted = now;
  const write = (): void => {
    addressTimer = null;
    addressChanges--;
    writeAddress();
  };
  if (addressChanges >= 1) write();
  else addressTimer = setTimeout(write, ADDRESS_MILLISECONDS);
});
const followAddress = (): void => {
  const { hash } = location;
  if (hash === writeSettings(settings.peek())) return;
  const read = readAddress();
  settings.value = read;
  opened.value = { hash, settings: read };
};
addEventListener('popstate', followAddress);
addEventListener('hashchange', followAddress);

export const tab = computed(() => settings.value.tab);
export const bundle = computed(() => settings.value.model || settings.value.layout);

const specKey = computed(() => JSON.stringify(specOf(settings.value)));
/** The matrix that is looked at; the same object as long as nothing of it changes. */
export const spec = computed(() => JSON.parse(specKey.value) as MatrixSpec);

function specOf(given: Settings): MatrixSpec {
  const { layout, seed, index, variant, difficulty, constraints, edits, pictures } = given;
  if (pictures !== '') return { kind: 'pictures', layout, packed: pictures };
  return { kind: 'sampled', layout, seed, index, variant, difficulty, constraints, edits };
}

export const model = signal<ModelState>({ phase: 'loading', name: bundle.peek(), share: 0 });

const followProgress = ({ name, loaded, total }: LoadProgress): void => {
  const state = model.peek();
  const isAwaited = state.phase === 'loading' || state.phase === 'preparing';
  if (!isAwaited || state.name !== name) return;
  model.value =
    loaded < total
      ? { phase: 'loading', name, share: loaded / total }
      : { phase: 'preparing', name };
};

export const engine = startEngine(followProgress).api;

/** Counts up to load a model again after a failure. */
const attempts = signal(0);
export const reloadModel = (): void => {
  attempts.value++;
};

export const backend = computed(() => settings.value.backend);
export const layout = computed(() => settings.value.layout);
/** Loads asked for: who goes to another model and back has the same one wanted twice. */
let loads = 0;
effect(() => {
  void attempts.value;
  const [name, wanted] = [bundle.value, layout.value];
  const own = ++loads;
  const tell = (state: ModelState): void => {
    if (own === loads) model.value = state;
  };
  tell({ phase: 'loading', name, share: 0 });
  engine.load(name, backend.value).then(
    (info) => {
      // A link can name any model with any configuration.
      const fault = `the model ${name} is for ${info.layout}, not for ${wanted}`;
      tell(info.layout === wanted ? { phase: 'ready', info } : { phase: 'failed', name, fault });
    },
    (error: unknown) => tell({ phase: 'failed', name, fault: messageOf(error) }),
  );
});

/** The model when it is there and fits the matrix. */
export const ready = computed((): ModelInfo | null => {
  const state = model.value;
  return state.phase === 'ready' && state.info.name === bundle.value ? state.info : null;
});

export const matrix = resource<MatrixView>(
  () => {
    const wanted = spec.value;
    return () => engine.matrix(wanted);
  },
  () => 'any matrix',
);

/** The model's answer and choice for the whole matrix as it is. */
export const choice = resource<ChoiceView>(() => {
  const wanted = spec.value;
  const isAsked = tab.value !== 'train' && tab.value !== 'test';
  return ready.value === null || !isAsked ? null : () => engine.choose(wanted);
});

/** What the matrix lacks, the last panel unless told: one digit each. */
const blankOrLast = computed(() => {
  const blank = matrix.value.value?.blank ?? [];
  return blank.length > 0 ? blank.join('') : '9';
});

const missingKey = computed(() => settings.value.missing.join(''));
/** What is erased, with what the matrix lacks anyway. */
export const erased = computed((): readonly number[] => {
  const blank = matrix.value.value?.blank ?? [];
  const all = new Set([...missingKey.value].map(Number));
  for (const position of blank) all.add(position);
  return [...all].sort((a, b) => a - b);
});
/** Whether there is something to paint, and something to paint it from. */
export const erasable = computed(() => erased.value.length > 0 && erased.value.length < 9);

/** What erased panels are painted with; gone when the matrix changes, kept while more is erased. */
export const painted = resource<AnswerView>(
  () => {
    const [wanted, missing] = [spec.value, erased.value];
    if (ready.value === null || tab.value !== 'erase' || !erasable.value) return null;
    return () => engine.solve(wanted, missing, {});
  },
  () => spec.value,
);

const revealed = computed(() => settings.value.revealed);
/** Missing positions of which different answers are wanted, one digit each; null if none are. */
const asked = computed((): string | null => {
  if (tab.value === 'erase') return erasable.value ? erased.value.join('') : null;
  return tab.value === 'play' && revealed.value ? blankOrLast.value : null;
});

/** Different answers: on the first tab once CRAB has answered, and to what is erased. */
const answers = resource<AnswersView | null>(
  () => {
    const [wanted, missing] = [spec.value, asked.value];
    return ready.value === null || missing === null
      ? null
      : () => engine.answers(wanted, [...missing].map(Number));
  },
  () => spec.value,
);

/** The one of them that is shown, where there are several to the same question; else null. */
export const shownAnswer = computed(() => {
  const found = answers.value.value ?? null;
  if (found === null || found.missing.join('') !== asked.value) return null;
  const index = settings.value.another % found.answers.length;
  const { answers: all, ...rest } = found;
  return { ...rest, ...all[index], index, count: all.length };
});

const solveNewest = newestOnly((wanted: MatrixSpec, missing: readonly number[], imposed: Imposed) =>
  engine.solve(wanted, missing, imposed),
);
const imposed = computed(() => settings.value.imposed);
/** The answer with a rule of a person's own, on the rule map. */
export const ruled = resource<AnswerView>(
  () => {
    const [wanted, rule] = [spec.value, imposed.value];
    if (ready.value === null || tab.value !== 'rules') return null;
    const blank = matrix.value.value?.blank ?? [];
    const missing = blank.length > 0 ? blank : [9];
    const rules: Imposed = rule === null ? {} : { [rule.concept]: [rule.x, rule.y] };
    return () => solveNewest(wanted, missing, rules);
  },
  () => spec.value,
);

/** Those of the model at hand. */
let planes = { model: '', of: new Map<number, Promise<PlaneView>>() };
/** The plane of rules of a concept of the model at hand; asked for once. */
export function planeOf(info: ModelInfo, concept: number): Promise<PlaneView> {
  if (planes.model !== info.name) planes = { model: info.name, of: new Map() };
  const { of } = planes;
  let plane = of.get(concept);
  if (plane === undefined) {
    plane = engine.plane(concept);
    plane.catch(() => of.delete(concept));
    of.set(concept, plane);
  }
  return plane;
}

/** The concept that is looked at, within what the model has. */
export const concept = computed(() => {
  const info = ready.value;
  if (info === null) return 1;
  return Math.min(settings.value.concept || info.liveliest, info.concepts.length);
});
