/** Why: the machine at work, how far each candidate lies from what it painted, and what concepts stand for. */
import type { ModelInfo, RuleView } from '../../engine/protocol.js';
import { choice, matrix, ready } from '../../state/store.js';
import { GroupCard, groupsOf } from './group-card.js';
import { HeatMap } from './heat-map.js';
import { Machine } from './machine/machine.js';

/** Concepts without a card of their own, with the reason; folded away. */
function OtherConcepts({ info }: { readonly info: ModelInfo }) {
  const shown = new Set(groupsOf(info).flatMap(({ concepts }) => concepts));
  const others = info.concepts.flatMap((_, m) => (shown.has(m + 1) ? [] : [m + 1]));
  if (others.length === 0) return null;
  return (
    <details class="other-concepts">
      <summary>
        {others.length === 1 ? 'One more concept' : `${others.length} more concepts`}
      </summary>
      <ul>
        {others.map((concept) => (
          <li key={concept}>
            Concept {concept} {info.aboutConcepts[concept - 1]}.
          </li>
        ))}
      </ul>
    </details>
  );
}

function Concepts({
  info,
  rules,
}: {
  readonly info: ModelInfo;
  readonly rules: readonly RuleView[];
}) {
  return (
    <>
      <div class="cards">
        {groupsOf(info).map((group) => (
          <GroupCard key={`${info.name} ${group.title}`} {...{ info, group, rules }} />
        ))}
      </div>
      <OtherConcepts info={info} />
    </>
  );
}

export function WhyView() {
  const shown = matrix.value.value;
  const { value, fault } = choice.value;
  const info = ready.value;
  return (
    <>
      <h1 class="unseen">Why CRAB chooses what it chooses</h1>
      <section class="why-machine">
        <h2>How it got there</h2>
        <p class="hint">
          It turns every panel into symbols of its own making, finds one rule for each, predicts the
          missing symbols, and paints them. Labels were used for the names here, and nowhere else.
        </p>
        <Machine shown={shown} />
        {fault !== null && <p class="fault">{fault}</p>}
      </section>
      <section class="why-candidates" aria-label="Distances">
        <h2>How far each candidate is</h2>
        <p class="hint">
          A row is a candidate, a column a concept that CRAB found by itself; it is called after the
          attribute it follows most. The stronger the colour, the more that concept speaks against
          the candidate.
        </p>
        <HeatMap />
      </section>
      <section class="concepts" aria-label="Concepts">
        <h2>What its concepts stand for</h2>
        <p class="hint">
          Nobody told CRAB about shape, size or colour: it made these concepts up. Each film is the
          imagined panel with the values that they really take; the framed one is what it imagines.
        </p>
        {info !== null && value !== null && <Concepts info={info} rules={value.answer.rules} />}
      </section>
    </>
  );
}
