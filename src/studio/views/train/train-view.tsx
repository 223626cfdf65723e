/** Train: start a small run on this machine and watch it learn. Elsewhere: a recorded one, and how to get it. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Controls } from './controls.js';
import { EXPECTED, ON_A_GPU } from './expectations.js';
import { connect, line, notes, status } from './connection.js';
import { Curves } from './curves.js';
import { ImaginedPanels } from './imagined-panels.js';
import { LiveRules } from './live-rules.js';
import { Recording } from './recording.js';

function HowTo() {
  return (
    <section class="how-to" data-testid="train-absent">
      <h2>Train your own, on your own machine</h2>
      <p>
        A web page alone cannot train CRAB; your machine can. With Node 20 on it, these commands
        open this page from there, and a model learns before your eyes:
      </p>
      <pre>
        <code>{`npm install crab-raven\nnpx crab info      # what is there, what is missing\nnpx crab studio    # this page, with training`}</code>
      </pre>
      <p>
        <code>crab info</code> names the one command that installs libtorch, the library that does
        the arithmetic.
      </p>
      <p data-testid="expect">
        {EXPECTED} {ON_A_GPU}.
      </p>
    </section>
  );
}

/** Without a network, or after the server was ended: the page itself is kept, training is not. */
function Silent({ retry }: { readonly retry: () => void }) {
  return (
    <section class="how-to" data-testid="train-silent" role="alert">
      <h2>Nobody answers</h2>
      <p>
        This page comes from your browser’s own store; the machine it was loaded from cannot be
        reached. Everything else here goes on working. To train, start <code>crab studio</code>{' '}
        there, or connect again.
      </p>
      <p>
        <button type="button" onClick={retry}>
          Try again
        </button>
      </p>
    </section>
  );
}

function Unavailable() {
  const state = status.value;
  const command = state?.command ?? null;
  return (
    <section class="how-to">
      <h2>Not yet on this machine</h2>
      <p>{state?.reason ?? 'This machine cannot train.'}</p>
      {command !== null && (
        <pre>
          <code>{command}</code>
        </pre>
      )}
    </section>
  );
}

export function TrainView() {
  const attempts = useSignal(0);
  useEffect(() => connect(), [attempts.value]);
  const state = status.value;
  const isAsking = line.value === 'asking' && state === null;
  const isLive = state !== null && state.available;
  return (
    <div class="train">
      <h1>Watch it learn</h1>
      {!isAsking && !isLive && <Recording />}
      {line.value === 'absent' && <HowTo />}
      {line.value === 'silent' && <Silent retry={() => attempts.value++} />}
      {isAsking && <p class="hint">Asking the server…</p>}
      {line.value === 'lost' && (
        <p class="notice" role="alert">
          The server does not answer; waiting for it.
        </p>
      )}
      {state !== null && !state.available && <Unavailable />}
      {isLive && (
        <div class="train-grid">
          <Controls state={state} />
          {state.shown !== null && (
            <>
              <Curves />
              <ImaginedPanels />
              <LiveRules />
            </>
          )}
          {notes.value.length > 0 && (
            <ul class="notes" aria-label="Notes" aria-live="polite">
              {notes.value.map(({ text, level }, i) => (
                <li key={i} class={level}>
                  {text}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      {isLive && <Recording />}
    </div>
  );
}
