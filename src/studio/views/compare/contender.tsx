/** One of the two systems: the matrix as it paints it, and the candidate it chooses. */
import type { ComponentChildren } from 'preact';
import type { ChoiceView, MatrixView } from '../../engine/protocol.js';
import { certaintyWithNumber } from '../../parts/certainty.js';
import { ErasableMatrix } from '../../parts/erasable-matrix.js';
import { EmptyMatrix } from '../../parts/matrix-grid.js';
import type { Resource } from '../../state/resource.js';
import { erasable, erased } from '../../state/store.js';

interface ContenderProps {
  readonly name: string;
  /** For its colour: `crab` or `rival`. */
  readonly kind: string;
  readonly matrix: MatrixView | null;
  readonly answer: Resource<ChoiceView>;
  /** Index of the right candidate; null while it is not told. */
  readonly told: number | null;
  /** Why there is no answer, or how far its model is. */
  readonly children?: ComponentChildren;
}

function choiceWords({ answer, told }: Pick<ContenderProps, 'answer' | 'told'>): string {
  const { value, pending } = answer;
  if (!erasable.value) return 'Erase a panel to see it painted.';
  if (value === null) return pending ? 'Painting…' : '';
  if (value.index === null) return 'No candidate to choose: they are for a panel that is there.';
  const outcome = told === null ? '' : told === value.index ? ': right' : ': wrong';
  const sure = certaintyWithNumber(value.confidence);
  return `Chooses candidate ${value.index + 1}${outcome}. Its choice: ${sure}.`;
}

export function Contender({ name, kind, matrix, answer, told, children }: ContenderProps) {
  const paintedAt = (position: number): Float32Array | undefined =>
    answer.value?.answer.images[answer.value.answer.missing.indexOf(position)];
  return (
    <section
      class={`contender ${kind}`}
      aria-label={name}
      aria-busy={answer.pending}
      data-contender={kind}
      data-missing={answer.value?.answer.missing.join('')}
    >
      <h2>{name}</h2>
      {matrix === null ? (
        <EmptyMatrix />
      ) : (
        <ErasableMatrix
          label={`Matrix as ${name} paints it; choose a panel to erase it`}
          painter={name}
          matrix={matrix}
          paintedAt={paintedAt}
          isBusy={answer.pending && erased.value.length > 0}
        />
      )}
      {children}
      {answer.fault === null ? (
        <p class="chosen" role="status">
          {choiceWords({ answer, told })}
        </p>
      ) : (
        <p class="fault" role="alert">
          {answer.fault}
        </p>
      )}
    </section>
  );
}
