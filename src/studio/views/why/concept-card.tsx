/** One concept: its name, a slider that repaints the panel, the rule in words, its place on the map. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { newestOnly } from '../../engine/newest-only.js';
import type { MatrixSpec, ModelInfo, RuleView } from '../../engine/protocol.js';
import { Blank, Pixels } from '../../parts/panel.js';
import { RuleName } from '../../parts/rule-table.js';
import { useAsync } from '../../parts/use-async.js';
import { change, choice, engine, planeOf, settings, spec } from '../../state/store.js';
import { MiniMap } from './mini-map.js';

const STEPS = 200;

/** What its rule says here, in the words of the table of rules. */
function RuleSentence({
  rule: { words, isFar },
  title,
}: {
  readonly rule: RuleView;
  readonly title: string;
}) {
  if (words === null) {
    return (
      <p class="rule-words">
        {isFar
          ? 'No known matrix has a rule near the one read here.'
          : 'Its rule tells of no single attribute.'}
      </p>
    );
  }
  // A concept named after one attribute may have rules that tell more of another: then say of which.
  const isOwn = title.startsWith(words.subject);
  return (
    <p class="rule-words">
      {isOwn ? 'Read here: ' : `Its rule tells of ${words.subject.toLowerCase()}: `}
      <strong>
        <RuleName rule={words.rule} />
      </strong>
      {words.share < 0.8 && ', or one close to it'}
    </p>
  );
}

function ConceptSlider({ info, concept }: { readonly info: ModelInfo; readonly concept: number }) {
  const name = info.concepts[concept - 1];
  const wanted = spec.value;
  const range = useAsync(
    () => engine.slider(wanted, concept),
    JSON.stringify([wanted, info.name, concept]),
  );
  const place: number | undefined = settings.value.moved[concept];
  const repainted = useSignal<{ readonly of: MatrixSpec; readonly panel: Float32Array } | null>(
    null,
  );
  const slide = useMemo(
    () => newestOnly((of: MatrixSpec, value: number) => engine.slide(of, concept, value)),
    [concept],
  );
  useEffect(() => {
    if (place === undefined) return;
    slide(wanted, place).then(
      (panel) => (repainted.value = { of: wanted, panel }),
      () => undefined,
    );
  }, [wanted, info.name, place]);
  const imagined = choice.value.value?.answer.images.at(-1);
  const isMoved = place !== undefined && repainted.value?.of === wanted;
  const values = isMoved ? repainted.value?.panel : imagined;
  const move = (value: number | null): void => {
    const others = Object.entries(settings.peek().moved).filter(
      ([each]) => Number(each) !== concept,
    );
    const moved: [string, number][] = value === null ? [] : [[String(concept), value]];
    change({ moved: Object.fromEntries([...others, ...moved]) });
  };
  return (
    <>
      {values === undefined ? (
        <Blank label="not imagined yet" busy />
      ) : (
        <Pixels values={values} label={`the imagined panel with another ${name}`} />
      )}
      <input
        type="range"
        aria-label={`Move ${name}`}
        min={range.value?.min ?? 0}
        max={range.value?.max ?? 1}
        step={range.value === null ? 1 : (range.value.max - range.value.min) / STEPS}
        value={place ?? range.value?.value ?? 0}
        disabled={range.value === null}
        onInput={(event) => move(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        class="quiet reset"
        disabled={place === undefined}
        aria-label={`Put ${name} back`}
        onClick={() => move(null)}
      >
        Put back
      </button>
    </>
  );
}

export function ConceptCard({ info, rule }: { readonly info: ModelInfo; readonly rule: RuleView }) {
  const { concept } = rule;
  const name = info.concepts[concept - 1];
  const plane = useAsync(
    info.moments.length > 0 && info.ruleSize === 2 ? () => planeOf(info, concept) : null,
    `${info.name} ${concept}`,
  );
  return (
    <article class="card" aria-label={name} data-concept={concept}>
      <header>
        <h3>{name}</h3>
        <p class="hint">
          Concept {concept} {info.aboutConcepts[concept - 1]}.
        </p>
      </header>
      <div class="card-panel">
        <ConceptSlider info={info} concept={concept} />
      </div>
      <RuleSentence rule={rule} title={name} />
      {plane.value !== null && (
        <button
          type="button"
          class="to-map"
          onClick={() => change({ tab: 'rules', concept }, true)}
          aria-label={`${name} on the rule map`}
          title="Open on the rule map"
        >
          <MiniMap plane={plane.value} rule={rule} />
        </button>
      )}
    </article>
  );
}
