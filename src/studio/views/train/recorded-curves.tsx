/** The curves that a bundle keeps of its training, with the moment marked that is shown. */
import { percent } from '../../../base/index.js';
import { useMemo } from 'preact/hooks';
import type { ModelInfo } from '../../engine/protocol.js';
import { DRAWING_ERROR, SURPRISE } from '../../engine/readable-curves.js';
import { inList } from '../../engine/words.js';
import { recordedAccuracy, variantWords } from './accuracy.js';
import { AccuracyCurve, Curve } from './curves.js';

interface ShownCurve {
  readonly title: string;
  readonly unit: string;
  /** Whether values are shares, to be told in percent. */
  readonly isShare: boolean;
  /** A value in words: "17.0%", "5.5 bits". */
  readonly words: (value: number) => string;
}

/** Curves worth a look, by their names in the history, with what they mean. */
const SHOWN_CURVES: Readonly<Record<string, ShownCurve>> = {
  [SURPRISE]: {
    title: 'How much a missing panel surprises it',
    unit: 'bits; 0 is just as it expected',
    isShare: false,
    words: (bits) => `${bits.toFixed(1)} bits`,
  },
  [DRAWING_ERROR]: {
    title: 'How far off it draws a panel that it sees',
    unit: 'usual error of a pixel; 0% is a perfect copy',
    isShare: true,
    words: percent,
  },
};

interface RecordedProps {
  readonly info: ModelInfo;
  /** The step to mark. */
  readonly step: number;
}

function RecordedAccuracy({ info, step }: RecordedProps) {
  const points = useMemo(() => recordedAccuracy(info), [info]);
  if (points.length === 0) return null;
  const last = new Map(points.map(({ variant, value }) => [variant, value]));
  const words = [...last].map(([variant, value]) => `${variant} ${percent(value)}`);
  return (
    <figure class="chart" aria-label={`Accuracy: ${words.join(', ')}`}>
      <figcaption>How often it chose right</figcaption>
      <AccuracyCurve points={points} marked={step} />
    </figure>
  );
}

function OtherCurves({ info, step }: RecordedProps) {
  const curves = useMemo(
    () =>
      Object.entries(SHOWN_CURVES).flatMap(([name, shown]) => {
        const curve = info.history.find((each) => each.name === name);
        if (curve === undefined) return [];
        const points = curve.steps.map((at, i) => ({ step: at, value: curve.values[i] }));
        return points.length === 0 ? [] : [{ shown, points }];
      }),
    [info],
  );
  return (
    <>
      {curves.map(({ shown, points }) => {
        const [first, last] = [points[0], points[points.length - 1]];
        const label = `${shown.title}: from ${shown.words(first.value)} to ${shown.words(last.value)}`;
        return (
          <figure key={shown.title} class="chart" aria-label={label}>
            <figcaption>{shown.title}</figcaption>
            <Curve points={points} label={shown.unit} isShare={shown.isShare} marked={step} />
          </figure>
        );
      })}
    </>
  );
}

/** Checks in training go by another distance than the page does. */
function finishedAccuracy({ accuracy }: ModelInfo): string {
  if (accuracy === null) return '';
  const shares = Object.entries(accuracy).map(
    ([variant, share]) => `${percent(share)} of ${variantWords(variant)}`,
  );
  return `By its own distance, which it goes by on this page, the finished model is right in ${inList(shares)}.`;
}

export function RecordedCurves({ info, step }: RecordedProps) {
  return (
    <>
      <div class="train-grid">
        <RecordedAccuracy info={info} step={step} />
        <OtherCurves info={info} step={step} />
      </div>
      <p class="hint">
        The upright line is the moment shown. Each dot counts its choices on new matrices, by plain
        L2 as in the paper; the dashed line is pure guessing, one in eight. {finishedAccuracy(info)}{' '}
        RAVEN and I-RAVEN differ in how wrong candidates are made. A surprise of one bit is that of
        a tossed coin.
      </p>
    </>
  );
}
