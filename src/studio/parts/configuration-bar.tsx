/** Which matrix to look at: configuration, difficulty, and another one. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { findLayout, hasGrid, layoutName, paperName } from '../../matrix/index.js';
import { CONFIGURATIONS, type Configuration } from '../../matrix/index.js';
import { DIFFICULTIES, type Difficulty } from '../engine/protocol.js';
import { CONFIGURATION_NAMES } from '../engine/words.js';
import { MOST_SEED, type Settings } from '../state/settings.js';
import { change, changeMatrix, ofMatrix, settings } from '../state/store.js';
import { modelsFor } from '../state/zoo.js';
import { LayoutIcon, ShuffleIcon } from './icons.js';
import { ShareButton } from './share-button.js';

const OWN_RULES = 'own';

const DIFFICULTY_NAMES: Readonly<Record<Difficulty, string>> = {
  gentle: 'Gentle',
  standard: 'Standard',
  hard: 'Hard',
};

/** A seed nobody has seen before. */
export function freshSeed(): number {
  const [random] = crypto.getRandomValues(new Uint32Array(1));
  return random % 1_000_000;
}

/** Another matrix of the same kind: a person's own rules stay. */
const changeSeed = (seed: number): void =>
  changeMatrix({ seed, constraints: settings.peek().constraints });

export const newMatrix = (): void => changeSeed(freshSeed());

/** Another layout; pictures of one's own stay, so that another model can try them. */
export const ofLayout = (layout: string): Partial<Settings> => {
  const { pictures } = settings.peek();
  return ofMatrix({ layout, model: '', concept: 0, point: -1, pictures });
};
const changeLayout = (layout: string): void => change(ofLayout(layout), true);

function ConfigurationChoice({ configuration }: { readonly configuration: Configuration }) {
  const current = findLayout(settings.value.layout);
  const noisy = current.noisy && hasGrid(configuration);
  const name = layoutName({ configuration, noisy });
  const isAbsent = modelsFor(name)?.length === 0;
  const title = isAbsent
    ? `${paperName(configuration)}: no model here yet`
    : paperName(configuration);
  return (
    <label class={`choice${isAbsent ? ' absent' : ''}`} title={title}>
      <input
        type="radio"
        name="configuration"
        value={configuration}
        checked={current.configuration === configuration}
        onChange={() => changeLayout(name)}
      />
      <LayoutIcon layout={name} />
      <span>{CONFIGURATION_NAMES[configuration]}</span>
    </label>
  );
}

/** All configurations; where they do not fit beside each other the chosen one is brought into sight. */
export function ConfigurationChoices() {
  const row = useRef<HTMLFieldSetElement>(null);
  const { layout } = settings.value;
  useEffect(() => {
    const box = row.current;
    const chosen = box?.querySelector<HTMLElement>('.choice:has(:checked)');
    if (!box || !chosen) return;
    box.scrollLeft = chosen.offsetLeft - (box.clientWidth - chosen.offsetWidth) / 2;
  }, [layout]);
  return (
    <fieldset class="choices" ref={row}>
      <legend class="unseen">Configuration</legend>
      {CONFIGURATIONS.map((configuration) => (
        <ConfigurationChoice key={configuration} configuration={configuration} />
      ))}
    </fieldset>
  );
}

/** Which model, where there is more than one for a layout: such as those trained here. */
function ModelChoice() {
  const { layout, model } = settings.value;
  const names = modelsFor(layout) ?? [];
  if (names.length < 2) return null;
  return (
    <select
      value={model || layout}
      aria-label="Model"
      onChange={(event) => {
        const { value } = event.currentTarget;
        change({
          model: value === layout ? '' : value,
          // Concepts, their places and rules are those of one model.
          concept: 0,
          point: -1,
          imposed: null,
        });
      }}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {name === layout ? 'published' : name}
        </option>
      ))}
    </select>
  );
}

/** Noise on or off, where a model for it is here. */
function NoiseToggle() {
  const { configuration, noisy } = findLayout(settings.value.layout);
  const other = layoutName({ configuration, noisy: !noisy });
  const isKnown = (modelsFor(other) ?? []).length > 0;
  if (!hasGrid(configuration) || (!noisy && !isKnown)) return null;
  return (
    <label class="toggle" title="Random sizes, shades and rotations, as in RAVEN’s original grids">
      <input type="checkbox" checked={noisy} onChange={() => changeLayout(other)} />
      <span>Noise</span>
    </label>
  );
}

/** How much changes; rules or pictures of one's own stand in its place. */
function DifficultyChoice() {
  const { difficulty, constraints, pictures } = settings.value;
  const isOwn = constraints !== '' || pictures !== '';
  return (
    <select
      value={isOwn ? OWN_RULES : difficulty}
      aria-label="Difficulty"
      title="Gentle: one thing changes. Standard: as in the data set. Hard: everything changes."
      onChange={(event) => {
        const { value } = event.currentTarget;
        const chosen = DIFFICULTIES.find((each) => each === value);
        if (chosen !== undefined) changeMatrix({ difficulty: chosen });
      }}
    >
      {isOwn && (
        <option value={OWN_RULES}>{pictures === '' ? 'Your rules' : 'Your pictures'}</option>
      )}
      {DIFFICULTIES.map((each) => (
        <option key={each} value={each}>
          {DIFFICULTY_NAMES[each]}
        </option>
      ))}
    </select>
  );
}

/** The number of the matrix; one that cannot be is refused in words. */
function SeedField() {
  const { seed } = settings.value;
  /** The number that stayed when another was refused; null when none was since. */
  const kept = useSignal<number | null>(null);
  return (
    <label class="field seed">
      <span>No.</span>
      <input
        type="number"
        inputMode="numeric"
        min={0}
        max={MOST_SEED}
        value={seed}
        aria-label="Number of the matrix (its seed)"
        onChange={(event) => {
          const input = event.currentTarget;
          const value = Number(input.value);
          const isSound =
            input.value !== '' && Number.isSafeInteger(value) && value >= 0 && value <= MOST_SEED;
          if (isSound) {
            kept.value = null;
            changeSeed(value);
            return;
          }
          // The field goes back to the number of the matrix that is shown; the words stay to say why.
          input.value = String(seed);
          kept.value = seed;
        }}
      />
      {kept.value === seed && (
        <span class="field-fault" role="alert">
          Matrices are numbered 0 to {MOST_SEED.toLocaleString('en')}.
        </span>
      )}
    </label>
  );
}

export function ConfigurationBar() {
  return (
    <section class="configuration" aria-label="Which matrix">
      <ConfigurationChoices />
      <div class="matrix-tools">
        <DifficultyChoice />
        <ModelChoice />
        <NoiseToggle />
        <SeedField />
        <button type="button" class="quiet" onClick={newMatrix}>
          <ShuffleIcon />
          <span>
            New<span class="wide-only"> matrix</span>
          </span>
        </button>
        <ShareButton />
      </div>
    </section>
  );
}
