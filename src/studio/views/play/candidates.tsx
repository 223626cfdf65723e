/** The candidates as buttons; once answered they tell who chose what. */
import { badgeOf, CandidateMarks, yourChoice } from '../../parts/candidate-marks.js';
import { Blank, Drawing } from '../../parts/panel.js';
import { choice, matrix, settings } from '../../state/store.js';

const PLACES = [1, 2, 3, 4, 5, 6, 7, 8] as const;

export function Candidates({ pick }: { readonly pick: (candidate: number) => void }) {
  const shown = matrix.value.value;
  const { picked, revealed } = settings.value;
  const models = revealed ? (choice.value.value?.index ?? null) : null;
  if (shown !== null && shown.candidates.length === 0) {
    return (
      <p class="hint">This picture shows no candidates. CRAB can imagine the panel all the same.</p>
    );
  }
  return (
    <ol class="candidates">
      {(shown?.candidates ?? PLACES).map((candidate, i) => {
        const number = i + 1;
        const isRight = revealed && shown?.right.includes(i) === true;
        // Of pictures the answer may not be known: then nobody is wrong.
        const isKnown = revealed && shown !== null && shown.right.length > 0;
        const isWrong = isKnown && !isRight && picked === number;
        const choosers = [
          ...(picked === number ? [yourChoice(isWrong)] : []),
          ...(models === i ? [{ name: 'CRAB', kind: 'crab' }] : []),
        ];
        const state = isRight ? ' right' : isWrong ? ' wrong' : '';
        return (
          <li key={number}>
            <button
              type="button"
              class={`candidate${state}`}
              disabled={revealed || typeof candidate === 'number'}
              data-candidate={number}
              onClick={() => pick(number)}
            >
              {typeof candidate === 'number' ? (
                <Blank label="not drawn yet" busy />
              ) : (
                <Drawing panel={candidate} />
              )}
              <CandidateMarks
                number={number}
                badge={revealed ? badgeOf(shown, i) : ''}
                choosers={choosers}
              />
            </button>
          </li>
        );
      })}
    </ol>
  );
}
