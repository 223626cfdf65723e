/**
 * How the model at hand was trained, from what its bundle keeps: its curves, its accuracy, the rules it read
 * in the same matrices at a few moments, and the panels it painted then, to be played as a film.
 */
import { useMemo } from 'preact/hooks';
import { DRAWING_ERROR } from '../../engine/drawing-error.js';
import type { ModelInfo, PlaneView } from '../../engine/protocol.js';
import { ConfigurationChoices } from '../../parts/configuration-bar.js';
import { ModelNotice } from '../../parts/model-notice.js';
import { Moments, momentShown } from '../../parts/moments.js';
import { lookOf, UNKNOWN_LOOK } from '../../parts/rule-looks.js';
import { useAsync } from '../../parts/use-async.js';
import { engine, planeOf, ready } from '../../state/store.js';
import {
  ABOUT_VARIANTS,
  AccuracyCurve,
  Curve,
  variantWords,
  type AccuracyPoint,
} from './curves.js';
import { ImaginedMatrices } from './imagined-panels.js';
import { KindLegend } from './kind-legend.js';
import { SmallPlane } from './small-plane.js';

interface ShownCurve {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  /** Whether values are shares, to be told in percent. */
  readonly isShare: boolean;
}

/** Curves worth a look, by their names in the bundle, with what they mean. */
const SHOWN_CURVES: readonly ShownCurve[] = [
  {
    name: 'targetRegularizer',
    title: 'How wrong its idea of a missing panel is',
    unit: 'error, 0 is perfect',
    isShare: false,
  },
  {
    name: DRAWING_ERROR,
    title: 'How far off it draws a panel that it sees',
    unit: 'usual error of a pixel; 0% is a perfect copy',
    isShare: true,
  },
];

/** A value of a curve: "17%", "5.5". */
const valueText = (value: number | undefined, { isShare }: ShownCurve): string =>
  value === undefined ? '–' : isShare ? `${(100 * value).toFixed(1)}%` : String(value);

function PlaneAtMoment({ plane, moment }: { readonly plane: PlaneView; readonly moment: number }) {
  const dots = useMemo(() => {
    const points = plane.moments[moment];
    const looks = plane.classes.map(lookOf);
    return plane.classOf.map((kind, n) => ({
      x: points[2 * n],
      y: points[2 * n + 1],
      ...(looks.at(kind) ?? UNKNOWN_LOOK),
    }));
  }, [plane, moment]);
  // One frame for all moments, so that points are seen to move.
  return <SmallPlane dots={dots} frame={plane.wide} />;
}

interface ConceptProps {
  readonly info: ModelInfo;
  /** 1..M */
  readonly concept: number;
  readonly moment: number;
}

function ConceptOverTime({ info, concept, moment }: ConceptProps) {
  const { value, fault } = useAsync(() => planeOf(info, concept), `${info.name} ${concept}`);
  return (
    <figure class="live-plane">
      {value === null ? (
        <p class="hint">{fault ?? ''}</p>
      ) : (
        <PlaneAtMoment plane={value} moment={moment} />
      )}
      <figcaption>{info.concepts[concept - 1]}</figcaption>
    </figure>
  );
}

/** The panels it painted at a moment. */
function PanelsAtMoment({ info, moment }: { readonly info: ModelInfo; readonly moment: number }) {
  const { value, fault } = useAsync(() => engine.recordedPanels(), info.name);
  if (fault !== null) return <p class="fault">{fault}</p>;
  if (value === null) return null;
  return <ImaginedMatrices source={value.source} painted={value.moments[moment]} />;
}

/** Curves of the bundle that are accuracies: `sa raven`, `sa i-raven`. */
const ACCURACY = /^sa (.+)$/;

function RecordedAccuracy({ info, step }: { readonly info: ModelInfo; readonly step: number }) {
  const points = useMemo(
    () =>
      info.history.flatMap(({ name, steps, values }): AccuracyPoint[] => {
        const variant = ACCURACY.exec(name)?.[1];
        if (variant === undefined) return [];
        return steps.map((at, i) => ({
          step: at,
          variant: variantWords(variant),
          value: values[i],
        }));
      }),
    [info],
  );
  if (points.length === 0) return null;
  const last = new Map(points.map(({ variant, value }) => [variant, value]));
  const words = [...last].map(([variant, value]) => `${variant} ${(100 * value).toFixed(1)}%`);
  return (
    <figure class="chart" aria-label={`Accuracy: ${words.join(', ')}`}>
      <figcaption>How often it chose right</figcaption>
      <AccuracyCurve points={points} marked={step} />
    </figure>
  );
}

/** What it took, as far as the bundle tells: "34,000 steps of 128 matrices each, in 6.5 minutes on one GPU". */
function effort({ training, moments }: ModelInfo): string {
  const { seconds, device, batch } = training;
  const steps = `${(moments.at(-1) ?? 0).toLocaleString('en')} steps`;
  const each = typeof batch === 'number' ? ` of ${batch} matrices each` : '';
  if (typeof seconds !== 'number') return `${steps}${each}`;
  const where = device === 'cuda' ? ' on one large GPU' : device === 'cpu' ? ' on a processor' : '';
  return `${steps}${each}, in ${(seconds / 60).toFixed(1)} minutes${where}`;
}

function RecordedCurves({ info, step }: { readonly info: ModelInfo; readonly step: number }) {
  const curves = useMemo(
    () =>
      SHOWN_CURVES.flatMap((shown) => {
        const curve = info.history.find(({ name }) => name === shown.name);
        if (curve === undefined) return [];
        const points = curve.steps.map((at, i) => ({ step: at, value: curve.values[i] }));
        return [{ shown, points }];
      }),
    [info],
  );
  return (
    <>
      {curves.map(({ shown, points }) => (
        <figure
          key={shown.title}
          class="chart"
          aria-label={`${shown.title}: from ${valueText(points.at(0)?.value, shown)} to ${valueText(points.at(-1)?.value, shown)}`}
        >
          <figcaption>{shown.title}</figcaption>
          <Curve points={points} label={shown.unit} isShare={shown.isShare} marked={step} />
        </figure>
      ))}
    </>
  );
}

function Replay({ info }: { readonly info: ModelInfo }) {
  const { index } = momentShown(info);
  const learned = `It learned in ${effort(info)}: after every step it changed a little. `;
  return (
    <>
      <Moments info={info} />
      {info.hasPanels && (
        <>
          <p class="hint">
            {learned}It never trained on these matrices. Watch what it paints in the place of the
            question mark, beside the true panel.
          </p>
          <PanelsAtMoment info={info} moment={index} />
        </>
      )}
      <p class="hint">
        {!info.hasPanels && learned}Each box is one of its concepts, each point the rule it read in
        one of {info.points} matrices, in the colour of the true rule, which it was never told.
        Watch the colours part.
        {!info.hasPanels &&
          ' The panels it painted meanwhile were not kept; a training of your own shows them as it goes.'}
      </p>
      <div class="live-planes">
        {info.concepts.map((name, m) => (
          <ConceptOverTime key={name} info={info} concept={m + 1} moment={index} />
        ))}
      </div>
      <KindLegend />
      <div class="train-grid">
        <RecordedAccuracy info={info} step={info.moments[index]} />
        <RecordedCurves info={info} step={info.moments[index]} />
      </div>
      <p class="hint">{ABOUT_VARIANTS}</p>
    </>
  );
}

export function Recording() {
  const info = ready.value;
  return (
    <section class="recording" aria-label="A recorded training" data-testid="recording">
      <h2>How the model you play with learned</h2>
      <ConfigurationChoices />
      <ModelNotice />
      {info !== null &&
        (info.moments.length > 0 ? (
          <Replay key={info.name} info={info} />
        ) : (
          <p class="notice">This model keeps nothing of its training.</p>
        ))}
    </section>
  );
}
