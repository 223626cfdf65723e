/** The head of the page: its name, what runs the model, light or dark. */
import { signal } from '@preact/signals';
import { model } from '../state/store.js';
import { ThemeIcon } from './icons.js';

type Theme = 'auto' | 'light' | 'dark';
const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];
const STORAGE = 'crab-studio-theme';

function storedTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(STORAGE)) ?? 'auto';
  } catch {
    return 'auto';
  }
}

const theme = signal(storedTheme());
theme.subscribe((value) => {
  if (value === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
});

/** From the system's colours to the others first, so that the first click shows something. */
function nextTheme(): void {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const order: readonly Theme[] = isDark ? ['auto', 'light', 'dark'] : ['auto', 'dark', 'light'];
  const next = order[(order.indexOf(theme.value) + 1) % order.length];
  theme.value = next;
  try {
    localStorage.setItem(STORAGE, next);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

const BACKENDS: Readonly<Record<string, string>> = { webgpu: 'WebGPU', wasm: 'WebAssembly' };

function ModelChip() {
  const state = model.value;
  switch (state.phase) {
    case 'loading': {
      const percent = Math.round(100 * state.share);
      return (
        <span class="chip" data-testid="backend" data-phase="loading">
          <span class="dot waiting" /> loading {percent}%
        </span>
      );
    }
    case 'preparing':
      return (
        <span class="chip" data-testid="backend" data-phase="preparing">
          <span class="dot waiting" /> preparing
        </span>
      );
    case 'failed':
      return (
        <span class="chip" data-testid="backend" data-phase="failed">
          <span class="dot off" /> no model
        </span>
      );
    case 'ready': {
      const { backend, threads } = state.info;
      const how = backend === 'wasm' ? ` · ${threads} ${threads === 1 ? 'thread' : 'threads'}` : '';
      return (
        <span class="chip" data-testid="backend" data-phase="ready">
          <span class="dot on" />
          <span>
            ready
            <span class="wide-only">
              {' '}
              on {BACKENDS[backend] ?? backend}
              {how}
            </span>
          </span>
        </span>
      );
    }
  }
}

export function Masthead() {
  return (
    <header class="masthead">
      <p class="brand">
        <img src={new URL('../icon.svg', import.meta.url).href} alt="" width="30" height="30" />
        <span>
          <strong>CRAB</strong> <span class="brand-rest">Studio</span>
        </span>
      </p>
      <p class="motto">
        <b>C</b>oncept-changing <b>R</b>ule <b>AB</b>straction
      </p>
      <div class="masthead-end">
        <span role="status">
          <ModelChip />
        </span>
        <button
          type="button"
          class="round"
          onClick={nextTheme}
          aria-label={`Colours: ${theme.value}. Change`}
          title={`Colours: ${theme.value}`}
        >
          <ThemeIcon />
        </button>
      </div>
    </header>
  );
}
