/** The candidates, who chose which, and on wish the right one. */
import type { MatrixView } from '../../engine/protocol.js';
import { CandidateList } from '../../parts/candidate-list.js';
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
  return <CandidateList matrix={matrix} told={told} choosers={choosers} />;
}
