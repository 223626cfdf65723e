/** The button that keeps everything on this device, how far it is, and that it is done. */
import { canKeep, keepEverything, keeping } from '../state/offline.js';
import { zooNames } from '../state/zoo.js';

export function KeepOffline() {
  if (!canKeep || zooNames().length === 0) return null;
  const state = keeping.value;
  return (
    <section class="keep-offline" aria-label="Use without a network">
      {state.phase === 'busy' ? (
        <>
          <progress
            class="load"
            max={state.total}
            value={state.done}
            aria-label="Keeping everything on this device"
          />
          <span role="status">Keeping {state.what}…</span>
        </>
      ) : (
        <>
          {state.phase !== 'kept' && (
            <button type="button" class="quiet" onClick={() => void keepEverything()}>
              Keep everything for offline
            </button>
          )}
          <span role="status">
            {state.phase === 'kept' &&
              `All ${state.total} models are on this device: the page works without a network.`}
            {state.phase === 'failed' && `Not everything could be kept: ${state.fault}.`}
          </span>
        </>
      )}
    </section>
  );
}
