/** Make: build a matrix from rules and values, or bring pictures, and see what CRAB makes of it. */
import { Drawing } from '../../parts/panel.js';
import { EmptyMatrix, ShownMatrix } from '../../parts/matrix-grid.js';
import { choice, matrix, ready, settings } from '../../state/store.js';
import { Builder } from './builder.js';
import { DropZone } from './drop-zone.js';
import { ExportButtons } from './export-buttons.js';

function Reading() {
  const [info, value, shown] = [ready.value, choice.value.value, matrix.value.value];
  if (info === null || value === null || shown === null) return <div class="reading" />;
  const chosen = value.index === null ? undefined : shown.candidates.at(value.index);
  return (
    <section class="reading" aria-label="What CRAB makes of it" data-testid="reading">
      <h2>What CRAB makes of it</h2>
      <dl>
        {value.answer.rules.map(({ concept, words }) => (
          <div key={concept}>
            <dt>{info.concepts[concept - 1]}</dt>
            <dd>{words === null ? 'no rule it could name' : words.text}</dd>
          </div>
        ))}
      </dl>
      {chosen !== undefined && value.index !== null && (
        <div class="choice-made">
          <figure class="compared">
            <Drawing panel={chosen} />
            <figcaption>chooses {value.index + 1}</figcaption>
          </figure>
          <p class="hint">
            {Math.round(100 * value.confidence)}% sure
            {shown.target === null
              ? '.'
              : value.index === shown.target
                ? ', and right.'
                : `, but the answer is ${shown.target + 1}.`}
          </p>
        </div>
      )}
    </section>
  );
}

export function MakeView() {
  const shown = matrix.value.value;
  const answer = choice.value.value?.answer ?? null;
  const isPictures = settings.value.pictures !== '';
  const painted = new Map(answer?.missing.map((at, i) => [at, answer.images[i]]) ?? []);
  return (
    <div class="columns">
      <h1 class="unseen">Make a matrix</h1>
      <section class="stage" aria-label="The matrix">
        {matrix.value.fault !== null && (
          <p class="fault" role="alert">
            {matrix.value.fault}
          </p>
        )}
        {shown === null ? (
          <EmptyMatrix />
        ) : (
          <ShownMatrix
            label="Your matrix, completed by CRAB"
            matrix={shown}
            missing={answer?.missing ?? (shown.blank.length > 0 ? shown.blank : [9])}
            painted={painted}
            busy={choice.value.pending}
          />
        )}
        {choice.value.fault !== null && (
          <p class="fault" role="alert">
            {choice.value.fault}
          </p>
        )}
        <ExportButtons />
      </section>
      <section class="side" aria-label="How it is made">
        <h2>{isPictures ? 'Your pictures' : 'Your rules'}</h2>
        {!isPictures && <Builder />}
        <DropZone />
        <Reading />
      </section>
    </div>
  );
}
