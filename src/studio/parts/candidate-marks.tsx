/** What stands on and below a candidate: that it is the answer, its number, and who chose it. */
import { AgreementIcon } from './icons.js';

interface CandidateMarksProps {
  /** From 1. */
  readonly number: number;
  /** Whether it is told to be the right one. */
  readonly isAnswer?: boolean;
  /** Who chose it, with the kind of each for its colour. */
  readonly choosers?: readonly { readonly name: string; readonly kind: string }[];
}

/** A person who chose a candidate; the colour of what is right is not for a wrong one. */
export const yourChoice = (isWrong: boolean) => ({ name: 'you', kind: isWrong ? 'missed' : 'you' });

export function CandidateMarks({ number, isAnswer = false, choosers = [] }: CandidateMarksProps) {
  return (
    <>
      {isAnswer && (
        <span class="answer-badge">
          <AgreementIcon isSame />
          answer
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
