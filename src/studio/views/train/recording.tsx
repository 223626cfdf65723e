/**
 * How the model at hand was trained, from what its bundle keeps: its curves, its accuracy, the rules it read
 * in the same matrices at a few moments, and the panels it painted then, to be played as a film.
 */
import { Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ModelInfo, PlaneView } from '../../engine/protocol.js';
import { ConfigurationChoices } from '../../parts/configuration-bar.js';
import { ModelNotice } from '../../parts/model-notice.js';
import { Moments, momentShown } from '../../parts/moments.js';
import { lookOf, UNKNOWN_LOOK } from '../../parts/rule-looks.js';
import { useAsync } from '../../parts/use-async.js';
import { engine, planeOf, ready } from '../../state/store.js';
import { accuracyAt, accuracyWords, recordedAccuracy } from './accuracy.js';
import { ImaginedMatrices } from './imagined-panels.js';
import { KindLegend } from './kind-legend.js';
import { RecordedCurves } from './recorded-curves.js';
import { SmallPlane } from './small-plane.js';

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

/** What it took, as far as the bundle tells: "34,000 steps of 128 matrices each, in 6.5 minutes on one GPU". */
function effort({ training, moments }: ModelInfo): string {
  const { seconds, device, batch } = training;
  const steps = `${(moments.at(-1) ?? 0).toLocaleString('en')} steps`;
  const each = typeof batch === 'number' ? ` of ${batch} matrices each` : '';
  if (typeof seconds !== 'number') return `${steps}${each}`;
  const where = device === 'cuda' ? ' on one large GPU' : device === 'cpu' ? ' on a processor' : '';
  return `${steps}${each}, in ${(seconds / 60).toFixed(1)} minutes${where}`;
}

/** How often it chose right at a moment, beside what it painted then. */
function AccuracyThen({ info, moment }: { readonly info: ModelInfo; readonly moment: number }) {
  const points = useMemo(() => recordedAccuracy(info), [info]);
  if (points.length === 0) return null;
  const known = accuracyAt(points, info.moments[moment]);
  const isChecked = known.every((each) => each.isChecked);
  const shares = known.map(accuracyWords);
  const { isEarly } = momentShown(info);
  return (
    <p class="accuracy-then" data-testid="accuracy-then">
      {known.length === 0 ? (
        `Its choices were first counted after ${points[0].step.toLocaleString('en')} steps; guessing is right in 12.5%.`
      ) : (
        <>
          It chose right in {!isChecked && 'about '}
          <strong>
            {shares.map((share, i) => (
              <Fragment key={share}>
                {i > 0 && (i === shares.length - 1 ? ' and ' : ', ')}
                <span class="unbroken">{share}</span>
              </Fragment>
            ))}
          </strong>
          .
        </>
      )}
      {!isEarly && ' This is the model you play with.'}
    </p>
  );
}

/** The panels it painted, if they were kept. */
function Film({ info, moment }: { readonly info: ModelInfo; readonly moment: number }) {
  if (!info.hasPanels) {
    return (
      <p class="hint">
        What it painted meanwhile was not kept. Some models here keep it, and a training of your own
        shows it as it goes.
      </p>
    );
  }
  return (
    <>
      <p class="hint">
        It never trained on these matrices. Watch what it paints in the place of the question mark,
        beside the true panel. How a shape is turned follows no rule: it may paint another angle, or
        a blend of several.
      </p>
      <PanelsAtMoment info={info} moment={moment} />
    </>
  );
}

function Replay({ info }: { readonly info: ModelInfo }) {
  const { index } = momentShown(info);
  return (
    <>
      <p class="hint">It learned in {effort(info)}: after every step it changed a little.</p>
      <div class="moment-bar">
        <Moments info={info} />
        <AccuracyThen info={info} moment={index} />
      </div>
      <Film info={info} moment={index} />
      <h3>How well it did</h3>
      <RecordedCurves info={info} step={info.moments[index]} />
      <h3>The rules it read</h3>
      <p class="hint">
        Each box is one of its concepts, each point the rule it read in one of {info.points}{' '}
        matrices, in the colour of the true rule, which it was never told. At first all lie in one
        spot: watch the colours part.
      </p>
      <div class="live-planes">
        {info.concepts.map((name, m) => (
          <ConceptOverTime key={name} info={info} concept={m + 1} moment={index} />
        ))}
      </div>
      <KindLegend />
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
