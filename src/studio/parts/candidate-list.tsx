/** The candidates to look at, who chose which, and on wish which are right. */
import type { MatrixView } from '../engine/protocol.js';
import { badgeOf, CandidateMarks } from './candidate-marks.js';
import { Drawing } from './panel.js';

interface CandidateListProps {
  readonly matrix: MatrixView;
  /** Whether the right one is told. */
  readonly told: boolean;
  readonly choosers?: readonly {
    readonly name: string;
    readonly kind: string;
    /** The candidate that was chosen, from 0. */
    readonly index: number | null | undefined;
  }[];
}

export function CandidateList({ matrix, told, choosers = [] }: CandidateListProps) {
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
