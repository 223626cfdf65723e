/** The candidates of the matrix that is made; its maker may solve it first, so the answer is marked on wish. */
import { useSignal } from '@preact/signals';
import type { MatrixView } from '../../engine/protocol.js';
import { CandidateList } from '../../parts/candidate-list.js';

export function MadeCandidates({ matrix }: { readonly matrix: MatrixView }) {
  const isMarked = useSignal(false);
  if (matrix.candidates.length === 0) return null;
  const isKnown = matrix.right.length > 0;
  return (
    <section class="made-candidates" aria-label="The candidates">
      <div class="score-head">
        <h2>The candidates</h2>
        <label
          class="toggle"
          title={isKnown ? undefined : 'It is not known that one of these is right'}
        >
          <input
            type="checkbox"
            checked={isMarked.value && isKnown}
            disabled={!isKnown}
            onChange={() => (isMarked.value = !isMarked.value)}
          />
          <span>Mark the answer</span>
        </label>
      </div>
      <CandidateList matrix={matrix} told={isMarked.value} />
    </section>
  );
}
