/** A slider through the moments of training at which rules were kept. */
import type { ModelInfo } from '../engine/protocol.js';
import { change, settings } from '../state/store.js';

/** The moment shown: its index among all, and whether training went on after it. */
export function momentShown({ moments }: ModelInfo): { index: number; isEarly: boolean } {
  const last = moments.length - 1;
  const { moment } = settings.value;
  const index = moment < 0 || moment > last ? last : moment;
  return { index, isEarly: index < last };
}

/** Shows a moment; the last is what a link without one means. */
export const showMoment = ({ moments }: ModelInfo, index: number): void =>
  change({ moment: index === moments.length - 1 ? -1 : index });

export function Moments({ info }: { readonly info: ModelInfo }) {
  const last = info.moments.length - 1;
  const { index: shown } = momentShown(info);
  return (
    <label class="moments">
      <span>After {info.moments[shown].toLocaleString('en')} steps of training</span>
      <input
        type="range"
        min={0}
        max={last}
        step={1}
        value={shown}
        disabled={last === 0}
        aria-label="Moment of training"
        aria-valuetext={`${info.moments[shown]} steps`}
        onInput={(event) => showMoment(info, Number(event.currentTarget.value))}
      />
    </label>
  );
}
