/** What stands on and below a candidate: that it is the answer, its number, and who chose it. */
import type { MatrixView } from '../engine/protocol.js';
import { AgreementIcon } from './icons.js';

interface CandidateMarksProps {
  /** From 1. */
  readonly number: number;
  /** What is told of it, as `badgeOf` has it; nothing unless given. */
  readonly badge?: string;
  /** Who chose it, with the kind of each for its colour. */
  readonly choosers?: readonly { readonly name: string; readonly kind: string }[];
}

/** What to say on a candidate whose rightness is told, by its index; nothing on a wrong one. */
export function badgeOf(
  matrix: Pick<MatrixView, 'target' | 'right'> | null,
  index: number,
): string {
  if (matrix?.target === index) return 'answer';
  return matrix?.right.includes(index) === true ? 'right' : '';
}

/** A person who chose a candidate; the colour of what is right is not for a wrong one. */
export const yourChoice = (isWrong: boolean) => ({ name: 'you', kind: isWrong ? 'missed' : 'you' });

export function CandidateMarks({ number, badge = '', choosers = [] }: CandidateMarksProps) {
  return (
    <>
      {badge !== '' && (
        <span class="answer-badge">
          <AgreementIcon isSame />
          {badge}
        </span>
      )}
      <span class="number">
        <span class="unseen">Candidate </span>
        {number}
      </span>
      <span class="tags">
        {choosers.map(({ name, kind }) => (
          <span key={name} class={`tag ${kind}`}>
            {name}
          </span>
        ))}
      </span>
    </>
  );
}
