/** The matrices that one of the two got wrong, as small pictures that open them. */
import { ShownMatrix } from '../../parts/matrix-grid.js';
import { StateLink } from '../../parts/state-link.js';
import { ofMatrix, settings } from '../../state/store.js';
import { trials, type Trial } from '../../state/trials.js';

const NOTHING: ReadonlyMap<number, Float32Array> = new Map();

function Failure({ trial }: { readonly trial: Trial }) {
  const { seed, matrix, isCrabRight, isRivalRight } = trial;
  if (matrix === null) return null;
  const wrong = [
    ...(isCrabRight ? [] : [{ name: 'CRAB', kind: 'crab' }]),
    ...(isRivalRight !== false ? [] : [{ name: 'Transformer', kind: 'rival' }]),
  ];
  const { constraints } = settings.value;
  // The last panel was asked for, and the answer is why one looks at it.
  const to = ofMatrix({ seed, constraints, missing: [9], revealed: true });
  return (
    <li>
      <StateLink
        to={to}
        class="failure"
        data-seed={seed}
        aria-current={settings.value.seed === seed ? 'true' : undefined}
      >
        <span aria-hidden="true">
          <ShownMatrix
            label={`Matrix ${seed}`}
            matrix={matrix}
            missing={[9]}
            painted={NOTHING}
            small
          />
        </span>
        <span>No. {seed}</span>
        <span class="tags">
          {wrong.map(({ name, kind }) => (
            <span key={name} class={`tag ${kind}`}>
              {name}
            </span>
          ))}
          <span class="unseen">wrong</span>
        </span>
      </StateLink>
    </li>
  );
}

export function Failures() {
  const { done, isRunning } = trials.value;
  const failures = done.filter(({ matrix }) => matrix !== null);
  if (done.length === 0) return null;
  return (
    <section class="failures" aria-label="What they got wrong">
      <h2>What they got wrong</h2>
      {failures.length === 0 ? (
        <p class="hint">Nothing {isRunning ? 'so far' : `in ${done.length} matrices`}.</p>
      ) : (
        <>
          <p class="hint">The names say who was wrong. Choose a picture to open its matrix.</p>
          <ul class="gallery">
            {failures.map((trial) => (
              <Failure key={trial.seed} trial={trial} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
