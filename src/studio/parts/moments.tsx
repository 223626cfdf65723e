/** The moments of training at which rules were kept: a slider through them, and a button that plays them. */
import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ModelInfo } from '../engine/protocol.js';
import { change, settings } from '../state/store.js';
import { momentWords } from './moment-words.js';

const MOMENT_MILLISECONDS = 900;

/** The moment shown: its index among all, and whether training went on after it. */
export function momentShown({ moments }: ModelInfo): { index: number; isEarly: boolean } {
  const last = moments.length - 1;
  const { moment } = settings.value;
  const index = moment < 0 || moment > last ? last : moment;
  return { index, isEarly: index < last };
}

/** Shows a moment; the last is what a link without one means. */
const showMoment = ({ moments }: ModelInfo, index: number): void =>
  change({ moment: index === moments.length - 1 ? -1 : index });

interface PlayButtonProps {
  readonly info: ModelInfo;
  readonly isPlaying: Signal<boolean>;
}

/** Plays one moment after another, from the first if the last is shown. */
function PlayButton({ info, isPlaying }: PlayButtonProps) {
  const { index } = momentShown(info);
  const last = info.moments.length - 1;
  useEffect(() => {
    if (!isPlaying.value) return undefined;
    if (index === last) {
      isPlaying.value = false;
      return undefined;
    }
    const timer = setTimeout(() => showMoment(info, index + 1), MOMENT_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [isPlaying.value, index, info]);
  const play = (): void => {
    if (!isPlaying.value && index === last) showMoment(info, 0);
    isPlaying.value = !isPlaying.value;
  };
  return (
    <button type="button" class="play-moments" disabled={last === 0} onClick={play}>
      {isPlaying.value ? 'Pause' : 'Play its training'}
    </button>
  );
}

/** `info` must be that of one model as long as this is shown. */
export function Moments({ info }: { readonly info: ModelInfo }) {
  const isPlaying = useSignal(false);
  const last = info.moments.length - 1;
  const { index: shown } = momentShown(info);
  const words = momentWords(info, shown);
  return (
    <div class="replay">
      <PlayButton info={info} isPlaying={isPlaying} />
      <label class="moments">
        <span>{words}</span>
        <input
          type="range"
          min={0}
          max={last}
          step={1}
          value={shown}
          disabled={last === 0}
          aria-label="Moment of training"
          aria-valuetext={words}
          onInput={(event) => {
            // Whoever moves the slider wants to look at that moment.
            isPlaying.value = false;
            showMoment(info, Number(event.currentTarget.value));
          }}
        />
      </label>
    </div>
  );
}
