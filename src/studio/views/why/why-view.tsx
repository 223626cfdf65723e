/** Why: how far each candidate lies from what CRAB imagined, concept by concept, and what concepts do. */
import { EmptyMatrix, ShownMatrix } from '../../parts/matrix-grid.js';
import { RuleTable } from '../../parts/rule-table.js';
import { choice, matrix, ready } from '../../state/store.js';
import { ConceptCard } from './concept-card.js';
import { HeatMap } from './heat-map.js';

export function WhyView() {
  const shown = matrix.value.value;
  const { value, fault } = choice.value;
  const info = ready.value;
  const painted = new Map(
    value?.answer.missing.map((position, i) => [position, value.answer.images[i]]) ?? [],
  );
  return (
    <>
      <div class="columns">
        <h1 class="unseen">Why CRAB chooses what it chooses</h1>
        <section class="stage" aria-label="The matrix">
          {shown === null ? (
            <EmptyMatrix />
          ) : (
            <ShownMatrix
              label="The matrix with what CRAB imagines"
              matrix={shown}
              missing={value?.answer.missing ?? [9]}
              painted={painted}
              busy={choice.value.pending}
            />
          )}
          <section class="why-rules" aria-label="The rules">
            <h2>The rules, and what CRAB read</h2>
            {shown !== null && (
              <RuleTable matrix={shown} info={info} answer={value?.answer ?? null} />
            )}
          </section>
        </section>
        <section class="side" aria-label="Distances">
          <h2>How far each candidate is</h2>
          <p class="hint">
            A row is a candidate, a column a concept that CRAB found by itself; it is called after
            the attribute it follows most. The stronger a cell, the more that concept speaks against
            the candidate.
          </p>
          {fault !== null && <p class="fault">{fault}</p>}
          <HeatMap />
        </section>
      </div>
      <section class="concepts" aria-label="Concepts">
        <h2>What each concept does</h2>
        <p class="hint">
          Nobody told CRAB about shape, size or colour: it made these concepts up. Move a slider to
          see what one stands for.
        </p>
        <div class="cards">
          {info !== null &&
            value?.answer.rules.map((rule) => (
              <ConceptCard key={`${info.name} ${rule.concept}`} info={info} rule={rule} />
            ))}
        </div>
      </section>
    </>
  );
}
