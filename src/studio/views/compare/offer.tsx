/** The candidates, who chose which, and on wish the right one. */
import type { MatrixView } from '../../engine/protocol.js';
import { badgeOf, CandidateMarks } from '../../parts/candidate-marks.js';
import { Drawing } from '../../parts/panel.js';
import { byCrab, byRival } from '../../state/compare.js';

interface OfferProps {
  readonly matrix: MatrixView;
  /** Whether the right one is told. */
  readonly told: boolean;
}

export function Offer({ matrix, told }: OfferProps) {
  if (matrix.candidates.length === 0) {
    return (
      <p class="hint">This picture shows no candidates. Both can paint the panel all the same.</p>
    );
  }
  const choosers = [
    { name: 'CRAB', kind: 'crab', index: byCrab.value.value?.index },
    { name: 'Transformer', kind: 'rival', index: byRival.value.value?.index },
  ];
  return (
    <ol class="candidates">
      {matrix.candidates.map((candidate, i) => (
        <li
          key={i}
          class={`candidate${told && matrix.right.includes(i) ? ' right' : ''}`}
          data-candidate={i + 1}
        >
          <Drawing panel={candidate} />
          <CandidateMarks
            number={i + 1}
            badge={told ? badgeOf(matrix, i) : ''}
            choosers={choosers.filter(({ index }) => index === i)}
          />
        </li>
      ))}
    </ol>
  );
}
