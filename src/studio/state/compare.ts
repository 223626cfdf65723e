/**
 * The second model of the tab Compare, the Transformer. It has a worker of its own, which ends when the
 * tab is left: WebAssembly gives memory back in no other way.
 */
import { computed, effect, signal } from '@preact/signals';
import { messageOf } from '../../base/index.js';
import { startEngine } from '../engine/client.js';
import type { ChoiceView, EngineApi, ModelInfo } from '../engine/protocol.js';
import { resource } from './resource.js';
import { backend, engine, erasable, erased, layout, ready, spec, tab } from './store.js';
import { transformerFor } from './zoo.js';

type RivalState =
  /** Not wanted, or there is none for the layout. */
  | { readonly phase: 'absent' }
  | { readonly phase: 'loading'; readonly share: number }
  | { readonly phase: 'ready'; readonly engine: EngineApi; readonly info: ModelInfo }
  | { readonly phase: 'failed'; readonly fault: string };

const ABSENT: RivalState = { phase: 'absent' };
export const rival = signal<RivalState>(ABSENT);

const isOpen = computed(() => tab.value === 'compare');
const wanted = computed(() => (isOpen.value ? (transformerFor(layout.value)?.name ?? null) : null));

/** Counts up to load it again after a failure. */
const attempts = signal(0);
export const reloadRival = (): void => {
  attempts.value++;
};

effect(() => {
  void attempts.value;
  const [name, on] = [wanted.value, backend.value];
  if (name === null) return;
  let isWanted = true;
  const tell = (state: RivalState): void => {
    if (isWanted) rival.value = state;
  };
  const running = startEngine(({ loaded, total }) =>
    tell({ phase: 'loading', share: loaded / total }),
  );
  tell({ phase: 'loading', share: 0 });
  running.api.load(name, on).then(
    (info) => tell({ phase: 'ready', engine: running.api, info }),
    (error: unknown) => tell({ phase: 'failed', fault: messageOf(error) }),
  );
  return () => {
    tell(ABSENT);
    isWanted = false;
    running.stop();
  };
});

/** Both paint and choose with the same panels missing; what is painted stays while more is erased. */
const answered = (by: () => EngineApi | null) =>
  resource<ChoiceView>(
    () => {
      const [matrix, missing, asked] = [spec.value, erased.value, by()];
      if (!isOpen.value || asked === null || !erasable.value) return null;
      return () => asked.choose(matrix, missing);
    },
    () => spec.value,
  );

export const byCrab = answered(() => (ready.value === null ? null : engine));
export const byRival = answered(() => (rival.value.phase === 'ready' ? rival.value.engine : null));
