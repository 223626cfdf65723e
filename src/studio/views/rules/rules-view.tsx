/** Rule map: the rules CRAB found, where a matrix lies among them, and what another rule would paint. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ModelInfo, PlaneView, RuleClass } from '../../engine/protocol.js';
import { shortTitle } from '../../engine/words.js';
import { EmptyMatrix, ShownMatrix } from '../../parts/matrix-grid.js';
import { KINDS, lookOf } from '../../parts/rule-looks.js';
import { Moments, momentShown } from '../../parts/moments.js';
import { Blank, Pixels } from '../../parts/panel.js';
import { holdingRule } from '../../parts/rule-table.js';
import { RuleTerm } from '../../parts/term.js';
import { useAsync } from '../../parts/use-async.js';
import { change, concept, matrix, planeOf, ready, ruled, settings } from '../../state/store.js';
import { PlaneChart, spreadOnChart } from './plane-chart.js';
import { PointMatrix } from './point-matrix.js';
import { RuleSentence } from './rule-sentence.js';

/** The concepts; those the model does without are folded away until asked for. */
function ConceptTabs({ info }: { readonly info: ModelInfo }) {
  const isUnfolded = useSignal(false);
  const { unused } = info;
  const showsAll = isUnfolded.value || unused.includes(concept.value);
  const all = info.concepts.map((_, m) => m + 1);
  const shown = [...all.filter((m) => !unused.includes(m)), ...(showsAll ? unused : [])];
  return (
    <div class="concept-tabs">
      <fieldset class="segmented wrap">
        <legend class="unseen">Concept</legend>
        {shown.map((m) => (
          <label key={m}>
            <input
              type="radio"
              name="concept"
              checked={concept.value === m}
              onChange={() => change({ concept: m, point: -1, imposed: null })}
            />
            <span title={`Concept ${m} ${info.aboutConcepts[m - 1]}`}>
              {shortTitle(info.concepts[m - 1])}
            </span>
          </label>
        ))}
        {!showsAll && unused.length > 0 && (
          <button type="button" class="quiet" onClick={() => (isUnfolded.value = true)}>
            +{unused.length} unused
          </button>
        )}
      </fieldset>
    </div>
  );
}

/** More than one of each kind: then there is no room to say what each does, except on wish. */
function Legend({ plane: { classes } }: { readonly plane: PlaneView }) {
  const isLong = classes.length > KINDS.length;
  const rank = ({ rule }: RuleClass): number => KINDS.findIndex((kind) => rule.endsWith(kind));
  const sorted = [...classes].sort((a, b) => rank(a) - rank(b));
  return (
    <ul class="legend" aria-label="True rules of the points">
      {sorted.map((each) => {
        const { colour, form } = lookOf(each);
        return (
          <li key={each.rule}>
            <span class={`swatch ${form}`} style={{ background: colour }} />
            <RuleTerm rule={each.rule} meaning={each.meaning} />
            {!isLong && <span class="aside">{each.meaning}</span>}
          </li>
        );
      })}
    </ul>
  );
}

const NO_DENSITY = new Float32Array();
/** If more than this share of the points had to make room for each other, it is said. */
const MANY_MOVED = 0.5;

function Map({ info }: { readonly info: ModelInfo }) {
  const current = concept.value;
  const { point } = settings.value;
  const { index, isEarly } = momentShown(info);
  const outcome = useAsync(() => planeOf(info, current), `${info.name} ${current}`);
  const plane = outcome.value;
  const answer = ruled.value.value;
  const rule = answer?.rules[current - 1] ?? null;
  const spread = useMemo(
    () => plane && spreadOnChart(plane.moments[index], isEarly ? plane.wide : plane),
    [plane, index, isEarly],
  );
  if (outcome.fault !== null) return <p class="fault">{outcome.fault}</p>;
  if (plane === null || spread === null) return <div class="plane" />;
  const { points, moved } = spread;
  const painted = answer?.images.at(-1);
  // Density and dot are those of the finished model: among earlier points they would mislead.
  const shownPlane = isEarly ? { ...plane, ...plane.wide, density: NO_DENSITY } : plane;
  return (
    <>
      <PlaneChart
        plane={shownPlane}
        points={points}
        labels={plane.labels[index]}
        rule={isEarly ? null : rule}
        point={point}
        label={`Rules of ${info.concepts[current - 1]}: ${points.length / 2} matrices`}
        onPoint={(index) => change({ point: index })}
        onRule={isEarly ? null : (x, y) => change({ imposed: { concept: current, x, y } })}
      />
      <div class="map-notes">
        <figure class="plane-preview">
          {painted === undefined ? (
            <Blank label="not painted yet" busy />
          ) : (
            <Pixels values={painted} label="the panel under this rule" />
          )}
          <figcaption>what it paints</figcaption>
        </figure>
        <Legend plane={plane} />
        <Moments key={info.name} info={info} />
        <p class="hint">
          {isEarly ? (
            <span role="status" data-testid="early">
              The points as they were then. Shading, red dot and answer are those of the finished
              model: move the slider to its end to see them.
            </span>
          ) : (
            <>
              This concept {info.aboutConcepts[current - 1]}. Each point is the rule CRAB read in
              one matrix, in the colour of the true rule, which it never saw. Alike rules lie close
              together; directions mean nothing. Choose a point for its matrix; drag the red dot and
              watch the answer change.
            </>
          )}
          {moved > MANY_MOVED && (
            <span data-testid="spread">
              {' '}
              Points that would lie on each other are set side by side: a heap of several colours is
              one rule to this concept.
            </span>
          )}
        </p>
      </div>
    </>
  );
}

function AnswerColumn({ info }: { readonly info: ModelInfo | null }) {
  const shown = matrix.value.value;
  const answer = ruled.value.value;
  const { imposed } = settings.value;
  const rule = answer?.rules[concept.value - 1] ?? null;
  const name = info?.concepts[concept.value - 1] ?? '';
  const isEarly = info !== null && momentShown(info).isEarly;
  const truth = shown === null ? undefined : holdingRule(shown, rule?.words?.key);
  return (
    <section class="side narrow" aria-label="The answer under this rule">
      <h2>
        {imposed === null ? 'The rule CRAB read' : 'The answer under your rule'}
        {isEarly && ', once trained'}
      </h2>
      {shown === null ? (
        <EmptyMatrix />
      ) : (
        <ShownMatrix
          label="The matrix with the imagined panel"
          matrix={shown}
          missing={answer?.missing ?? [9]}
          painted={new globalThis.Map(answer?.missing.map((at, i) => [at, answer.images[i]]) ?? [])}
          busy={ruled.value.pending}
        />
      )}
      {ruled.value.fault !== null && (
        <p class="fault" role="alert">
          {ruled.value.fault}
        </p>
      )}
      <p class="rule-words" role="status" data-testid="rule-words">
        {rule !== null && answer !== null && (
          <RuleSentence name={name} rule={rule} answer={answer} truth={truth} />
        )}
      </p>
      <div class="actions">
        <button type="button" disabled={imposed === null} onClick={() => change({ imposed: null })}>
          Back to its own rule
        </button>
      </div>
      <PointMatrix />
    </section>
  );
}

export function RulesView() {
  const info = ready.value;
  return (
    <div class="columns map-first">
      <h1 class="unseen">Rule map</h1>
      <section class="stage" aria-label="The map">
        {info === null ? (
          <div class="plane" />
        ) : (
          <>
            <ConceptTabs info={info} />
            {info.moments.length > 0 ? (
              <div class="map">
                <Map info={info} />
              </div>
            ) : (
              <p class="notice">This model carries no rule map.</p>
            )}
          </>
        )}
      </section>
      <AnswerColumn info={info} />
    </div>
  );
}
