/** One of the two systems: the matrix as it paints it, and the candidate it chooses. */
import type { ComponentChildren } from 'preact';
import type { ChoiceView, MatrixView } from '../../engine/protocol.js';
import { closenessWords, panelSentence } from '../../parts/certainty.js';
import { failureWords, mistakeWords } from '../../parts/mistakes.js';
import { ErasableMatrix } from '../../parts/erasable-matrix.js';
import { EmptyMatrix } from '../../parts/matrix-grid.js';
import type { Resource } from '../../state/resource.js';
import { erasable, erased } from '../../state/store.js';

interface ContenderProps {
  readonly name: string;
  /** For its colour: `crab` or `rival`. */
  readonly kind: string;
  /** What it is, a sentence. */
  readonly about: string;
  readonly matrix: MatrixView | null;
  readonly answer: Resource<ChoiceView>;
  /** Whether the right candidate is told. */
  readonly told: boolean;
  /** Why there is no answer, or how far its model is. */
  readonly children?: ComponentChildren;
}

function choiceWords({ matrix, answer, told }: ContenderProps): string {
  const { value, pending } = answer;
  if (!erasable.value) return 'Erase a panel to see it painted.';
  if (value === null) return pending ? 'Painting…' : '';
  if (value.index === null) return 'No candidate to choose: they are for a panel that is there.';
  const { index } = value;
  const sureness = value.answer.sureness?.at(-1);
  const panel = sureness === undefined ? '' : panelSentence(sureness);
  const close = closenessWords(index, value);
  const candidate = matrix?.candidates.at(index);
  const isWrong = told && matrix?.right.includes(index) === false && candidate !== undefined;
  const words = isWrong
    ? ['Wrong.', failureWords(candidate, value.answer), close, mistakeWords(index, candidate)]
    : [told ? 'Right.' : '', panel, close];
  return words.filter((each) => each !== '').join(' ');
}

export function Contender(props: ContenderProps) {
  const { name, kind, about, matrix, answer, children } = props;
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
      <p class="hint about">{about}</p>
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
          {choiceWords(props)}
        </p>
      ) : (
        <p class="fault" role="alert">
          {answer.fault}
        </p>
      )}
    </section>
  );
}
