/** One concept: its name, a slider that repaints the panel, the rule in words, its place on the map. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { newestOnly } from '../../engine/newest-only.js';
import type { MatrixSpec, ModelInfo, RuleView } from '../../engine/protocol.js';
import { Blank, Pixels } from '../../parts/panel.js';
import { useAsync } from '../../parts/use-async.js';
import { change, choice, engine, planeOf, spec } from '../../state/store.js';
import { MiniMap } from './mini-map.js';

const STEPS = 200;

function ruleSentence({ words }: RuleView): string {
  if (words === null) return 'No rule that the known matrices could name.';
  const certainty = words.share >= 0.8 ? '' : ' (or another nearby)';
  return `${words.text}${certainty}.`;
}

function ConceptSlider({ info, concept }: { readonly info: ModelInfo; readonly concept: number }) {
  const name = info.concepts[concept - 1];
  const wanted = spec.value;
  const range = useAsync(
    () => engine.slider(wanted, concept),
    JSON.stringify([wanted, info.name, concept]),
  );
  const moved = useSignal<Float32Array | null>(null);
  const slide = useMemo(
    () => newestOnly((of: MatrixSpec, value: number) => engine.slide(of, concept, value)),
    [concept],
  );
  useSignalEffect(() => {
    void spec.value;
    moved.value = null;
  });
  const imagined = choice.value.value?.answer.images.at(-1);
  const values = moved.value ?? imagined;
  return (
    <>
      {values === undefined ? (
        <Blank label="not imagined yet" busy />
      ) : (
        <Pixels values={values} label={`the imagined panel with another ${name}`} />
      )}
      <input
        key={JSON.stringify([wanted, range.value])}
        type="range"
        aria-label={`Move ${name}`}
        min={range.value?.min ?? 0}
        max={range.value?.max ?? 1}
        step={range.value === null ? 1 : (range.value.max - range.value.min) / STEPS}
        defaultValue={String(range.value?.value ?? 0)}
        disabled={range.value === null}
        onInput={(event) => {
          const value = Number(event.currentTarget.value);
          void slide(wanted, value).then((panel) => {
            if (spec.peek() === wanted) moved.value = panel;
          });
        }}
      />
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
      <h3>{name}</h3>
      <div class="card-panel">
        <ConceptSlider info={info} concept={concept} />
      </div>
      <p class="rule-words">{ruleSentence(rule)}</p>
      {plane.value !== null && (
        <button
          type="button"
          class="to-map"
          onClick={() => change({ tab: 'rules', concept }, true)}
          aria-label={`${name} on the rule map`}
        >
          <MiniMap plane={plane.value} rule={rule} />
        </button>
      )}
    </article>
  );
}
