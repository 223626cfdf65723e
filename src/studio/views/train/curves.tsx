/** Quantities over the steps of a training. */
import { percent } from '../../../base/index.js';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { drawAsWide, type Library } from '../../parts/chart.js';
import { variantWords, type AccuracyPoint } from './accuracy.js';
import { steps, validations } from './connection.js';

const HEIGHT = 220;
const LOOK = {
  background: 'transparent',
  color: 'var(--ink)',
  fontFamily: 'var(--text)',
  fontSize: '12px',
};
/** Room for the axes' names below their ticks. */
const MARGIN_BOTTOM = 40;

/** Numbers of five digits need so much room. */
const stepsAxis = (width: number) => ({
  label: 'steps of training',
  ticks: Math.min(5, Math.floor(width / 100)),
});

/** The step of the moment that is shown. */
const shownMoment = (plot: Library, step: number) =>
  plot.ruleX([step], { stroke: 'var(--ink)', strokeWidth: 1.5 });

export interface CurvePoint {
  readonly step: number;
  readonly value: number;
}

interface CurveProps {
  readonly points: readonly CurvePoint[];
  readonly label: string;
  /** Whether values are shares, told in percent. */
  readonly isShare?: boolean;
  /** Whether values mean nothing by themselves: only that they fall. */
  readonly isBare?: boolean;
  /** A step to mark; null for none. */
  readonly marked?: number | null;
}

/** One quantity as a line. `points` must be the same object as long as nothing changes. */
export function Curve({
  points,
  label,
  isShare = false,
  isBare = false,
  marked = null,
}: CurveProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      drawAsWide(place.current, (plot, width) => ({
        width,
        height: HEIGHT,
        marginBottom: MARGIN_BOTTOM,
        style: LOOK,
        x: stepsAxis(width),
        y: {
          label,
          grid: true,
          ticks: 5,
          zero: !isBare,
          ...(isShare && { tickFormat: '.0%' }),
          ...(isBare && { tickFormat: () => '' }),
        },
        marks: [
          plot.line(points, { x: 'step', y: 'value', stroke: 'var(--crab)', strokeWidth: 2 }),
          ...(marked === null ? [] : [shownMoment(plot, marked)]),
        ],
      })),
    [points, label, isShare, isBare, marked],
  );
  return <div class="curve" ref={place} />;
}

function LossCurve() {
  const known = steps.value;
  const points = useMemo(
    () =>
      known.flatMap(({ step, terms }) => ('loss' in terms ? [{ step, value: terms.loss }] : [])),
    [known],
  );
  return <Curve points={points} label="lower is better" isBare />;
}

interface AccuracyCurveProps {
  /** The same object as long as nothing changes. */
  readonly points: readonly AccuracyPoint[];
  /** A step to mark; null for none. */
  readonly marked?: number | null;
}

export function AccuracyCurve({ points, marked = null }: AccuracyCurveProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      drawAsWide(place.current, (plot, width) => {
        const at = { x: 'step', y: 'value', stroke: 'variant' };
        return {
          width,
          height: HEIGHT,
          marginBottom: MARGIN_BOTTOM,
          style: LOOK,
          x: { ...stepsAxis(width), zero: true },
          y: {
            label: 'chose right',
            domain: [0, 1],
            percent: false,
            tickFormat: '.0%',
            grid: true,
          },
          color: { legend: true, range: ['var(--you)', 'var(--crab)', 'var(--muted)'] },
          marks: [
            plot.ruleY([1 / 8], { strokeDasharray: '3 4' }),
            plot.lineY(points, at),
            plot.dot(points, at),
            ...(marked === null ? [] : [shownMoment(plot, marked)]),
          ],
        };
      }),
    [points, marked],
  );
  return <div class="curve" ref={place} />;
}

function LiveAccuracy() {
  const known = validations.value;
  const points = useMemo(
    () =>
      known.flatMap(({ step, accuracy }) =>
        Object.entries(accuracy).map(([variant, value]) => ({
          step,
          variant: variantWords(variant),
          value,
        })),
      ),
    [known],
  );
  return <AccuracyCurve points={points} />;
}

export function Curves() {
  const loss = steps.value.at(-1)?.terms.loss;
  const accuracy = Object.entries(validations.value.at(-1)?.accuracy ?? {});
  return (
    <>
      <figure
        class="chart"
        aria-label={`How far from its goal: ${loss === undefined ? 'not known yet' : loss.toFixed(2)}`}
      >
        <figcaption>How far it is from its goal</figcaption>
        <LossCurve />
      </figure>
      <figure
        class="chart"
        aria-label={`Accuracy: ${accuracy.map(([name, value]) => `${variantWords(name)} ${percent(value)}`).join(', ') || 'not known yet'}`}
      >
        <figcaption>How often it chooses right</figcaption>
        <LiveAccuracy />
      </figure>
    </>
  );
}
