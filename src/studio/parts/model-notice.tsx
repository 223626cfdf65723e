/** How far the model's download is, or why there is none. Takes its place from the start. */
import { model, reloadModel, settings } from '../state/store.js';
import { modelsFor } from '../state/zoo.js';

export function ModelNotice() {
  const state = model.value;
  if (state.phase === 'ready') return <div class="notice-place" />;
  return (
    <div class="notice-place">
      {state.phase === 'preparing' ? (
        <progress class="load" aria-label={`Preparing the model for ${state.name}`} />
      ) : state.phase === 'loading' ? (
        <progress
          class="load"
          max={1}
          value={state.share}
          aria-label={`Loading the model for ${state.name}`}
        />
      ) : (
        <div class="notice" role="alert">
          <p>{capital(state.fault)}. You can still play and build; imagining needs a model.</p>
          {modelsFor(settings.value.layout)?.length !== 0 && (
            <button type="button" class="quiet" onClick={reloadModel}>
              Try again
            </button>
          )}
        </div>
      )}
    </div>
  );
}

/** A sentence of its own; one that starts with an address stays as it is. */
const capital = (text: string): string =>
  /^\w+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
