/**
 * The plane of one concept's rules: contours of the learned prior, parsed matrices as points in the
 * colour of their true rule, and a handle that a person can drag. A click takes the nearest point.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { PlaneFrame, PlaneView, RuleView } from '../../engine/protocol.js';
import { drawChart } from '../../parts/chart.js';
import { lookOf, UNKNOWN_LOOK } from '../../parts/rule-looks.js';
import { ClusterNames } from './cluster-names.js';
import { spreadPoints, type SpreadPoints } from './spread-points.js';

const SIDE = 560;
const MARGIN = 14;
/** How far a press may wander and still be a click. */
const CLICK_PIXELS = 5;
/** How near a click must be to a point, in the chart's own units. */
const NEAR = 16;
/** log p below the highest at which contours lie. */
const CONTOURS = [0.3, 0.8, 1.5, 2.5, 4, 6, 9];
const KEY_STEP = 0.02;
/** How near two points may lie in the chart: they touch, and both are seen. */
const APART = 4;

type Place = readonly [x: number, y: number];

interface Scales {
  readonly toChart: (place: Place) => Place;
  readonly toPlane: (place: Place) => Place;
}

function scalesOf({ x, y }: PlaneFrame): Scales {
  const inner = SIDE - 2 * MARGIN;
  return {
    toChart: ([px, py]) => [
      MARGIN + (inner * (px - x[0])) / (x[1] - x[0]),
      MARGIN + (inner * (y[1] - py)) / (y[1] - y[0]),
    ],
    toPlane: ([cx, cy]) => [
      x[0] + ((cx - MARGIN) / inner) * (x[1] - x[0]),
      y[1] - ((cy - MARGIN) / inner) * (y[1] - y[0]),
    ],
  };
}

/** A place outside the plane is marked at its edge. */
const clamped = (place: readonly number[], { x, y }: PlaneFrame): Place => [
  within(place[0], x),
  within(place[1], y),
];

const within = (value: number, [low, high]: readonly [number, number]): number =>
  Math.min(high, Math.max(low, value));

function nearestPoint(points: Float32Array, at: Place, { toChart }: Scales): number {
  let [best, least] = [-1, NEAR * NEAR];
  for (let n = 0; n < points.length / 2; n++) {
    const [cx, cy] = toChart([points[2 * n], points[2 * n + 1]]);
    const distance = (cx - at[0]) ** 2 + (cy - at[1]) ** 2;
    if (distance < least) [best, least] = [n, distance];
  }
  return best;
}

/** Points of a plane (x, y of each), those that lie on each other set side by side. */
export function spreadOnChart(points: Float32Array, frame: PlaneFrame): SpreadPoints {
  const { toChart, toPlane } = scalesOf(frame);
  const mapped = (values: Float32Array, map: (place: Place) => Place): Float32Array =>
    values.map((_, i) => map([values[i & ~1], values[i | 1]])[i & 1]);
  const { points: spread, moved } = spreadPoints(mapped(points, toChart), APART);
  return { points: mapped(spread, toPlane), moved };
}

function Base({ plane, points }: { readonly plane: PlaneView; readonly points: Float32Array }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const highest = plane.density.reduce((most, value) => Math.max(most, value), -Infinity);
    const looks = plane.classes.map(lookOf);
    const dots = Array.from({ length: points.length / 2 }, (_, n) => ({
      x: points[2 * n],
      y: points[2 * n + 1],
      ...(looks.at(plane.classOf[n] ?? looks.length) ?? UNKNOWN_LOOK),
    }));
    return drawChart(place.current, (plot) => ({
      width: SIDE,
      height: SIDE,
      margin: MARGIN,
      x: { domain: plane.x, axis: null },
      y: { domain: plane.y, axis: null },
      marks: [
        ...(plane.density.length > 0
          ? [
              plot.contour(plane.density, {
                width: plane.side,
                height: plane.side,
                x1: plane.x[0],
                x2: plane.x[1],
                y1: plane.y[0],
                y2: plane.y[1],
                thresholds: CONTOURS.map((drop) => highest - drop).reverse(),
                fill: 'var(--crab)',
                fillOpacity: 0.055,
                stroke: 'var(--crab)',
                strokeOpacity: 0.35,
              }),
            ]
          : []),
        plot.dot(dots, {
          x: 'x',
          y: 'y',
          r: 3.2,
          symbol: 'form',
          fill: 'colour',
          fillOpacity: 0.72,
        }),
      ],
    }));
  }, [plane, points]);
  return <div class="plane-base" ref={place} />;
}

function Mark({ at, kind }: { readonly at: Place; readonly kind: string }) {
  return <circle class={`mark ${kind}`} cx={at[0]} cy={at[1]} r={kind === 'chosen' ? 7 : 9} />;
}

interface PlaneChartProps {
  readonly plane: PlaneView;
  /** x, y of each, as they are drawn. */
  readonly points: Float32Array;
  /** Clusters of these points, to be named. */
  readonly labels: PlaneView['labels'][number];
  /** The rule to mark; null for none. */
  readonly rule: RuleView | null;
  /** The point that is looked at; -1 for none. */
  readonly point: number;
  readonly label: string;
  readonly onPoint: (index: number) => void;
  /** Called with a rule that a person drags to; null where none can be. */
  readonly onRule: ((x: number, y: number) => void) | null;
}

/** A press on the chart: a click takes the nearest point, a drag moves the rule. */
function usePress({ plane, points, onPoint }: PlaneChartProps, impose: (rule: Place) => void) {
  const chart = useRef<SVGSVGElement>(null);
  const press = useRef<{ readonly start: Place; readonly drags: boolean; moved: boolean } | null>(
    null,
  );
  const scales = scalesOf(plane);
  const placeOf = (event: PointerEvent): Place => {
    const box = chart.current?.getBoundingClientRect();
    if (box === undefined) return [0, 0];
    const scale = SIDE / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  };
  const onPointerDown = (event: PointerEvent): void => {
    const place = event.currentTarget as HTMLElement;
    const isHandle = event.target instanceof HTMLElement && event.target.matches('.plane-handle');
    // A finger anywhere else scrolls the page; a mouse may drag from wherever it is.
    const drags = event.pointerType !== 'touch' || isHandle;
    if (drags) place.setPointerCapture(event.pointerId);
    press.current = { start: placeOf(event), drags, moved: false };
  };
  const onPointerMove = (event: PointerEvent): void => {
    if (press.current === null) return;
    const at = placeOf(event);
    const { start } = press.current;
    if (Math.hypot(at[0] - start[0], at[1] - start[1]) > CLICK_PIXELS) press.current.moved = true;
    if (press.current.moved && press.current.drags) impose(scales.toPlane(at));
  };
  const onPointerUp = (event: PointerEvent): void => {
    const nearest = nearestPoint(points, placeOf(event), scales);
    if (press.current?.moved === false && nearest >= 0) onPoint(nearest);
    press.current = null;
  };
  const onPointerCancel = (): void => {
    press.current = null;
  };
  return { chart, handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel } };
}

const ARROWS: Readonly<Record<string, Place>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** Where an arrow key moves a rule; null for any other key. */
function ruleAfterKey(key: string, [x, y]: readonly number[], plane: PlaneFrame): Place | null {
  const arrow = ARROWS[key];
  if (arrow === undefined) return null;
  return [
    x + arrow[0] * KEY_STEP * (plane.x[1] - plane.x[0]),
    y + arrow[1] * KEY_STEP * (plane.y[1] - plane.y[0]),
  ];
}

/** The point that is looked at, and the rule: as it is, and as it was read. */
function Marks({ plane, points, rule, point }: PlaneChartProps) {
  const { toChart } = scalesOf(plane);
  const isChosen = point >= 0 && 2 * point < points.length;
  return (
    <>
      {isChosen && <Mark kind="chosen" at={toChart([points[2 * point], points[2 * point + 1]])} />}
      {rule?.imposed === true && <Mark kind="parsed" at={toChart(clamped(rule.parsed, plane))} />}
      {rule !== null && (
        <Mark kind={rule.imposed ? 'imposed' : 'own'} at={toChart(clamped(rule.vector, plane))} />
      )}
    </>
  );
}

/** What a finger takes hold of to move the rule. */
function Handle({ rule, plane }: { readonly rule: RuleView; readonly plane: PlaneFrame }) {
  const [x, y] = scalesOf(plane).toChart(clamped(rule.vector, plane));
  const style = { left: `${(100 * x) / SIDE}%`, top: `${(100 * y) / SIDE}%` };
  return <div class="plane-handle" style={style} />;
}

export function PlaneChart(props: PlaneChartProps) {
  const { plane, points, labels, rule, label, onRule } = props;
  const { toChart } = scalesOf(plane);
  const impose = (wanted: Place): void => onRule?.(...clamped(wanted, plane));
  const { chart, handlers } = usePress(props, impose);
  const onKey = (event: KeyboardEvent): void => {
    const moved = rule === null ? null : ruleAfterKey(event.key, rule.vector, plane);
    if (moved === null) return;
    event.preventDefault();
    impose(moved);
  };
  return (
    <div class="plane" {...handlers}>
      <Base plane={plane} points={points} />
      <ClusterNames
        plane={plane}
        points={points}
        labels={labels}
        dot={rule === null ? null : clamped(rule.parsed, plane)}
        shareOf={(place) => toChart(place).map((at) => at / SIDE) as [number, number]}
      />
      <svg
        ref={chart}
        class="plane-overlay"
        viewBox={`0 0 ${SIDE} ${SIDE}`}
        role="application"
        aria-label={label}
        aria-roledescription={`rule map${onRule === null ? '' : '; arrow keys move the rule'}`}
        tabindex={0}
        data-testid="plane"
        onKeyDown={onKey}
      >
        <Marks {...props} />
      </svg>
      {rule !== null && <Handle rule={rule} plane={plane} />}
    </div>
  );
}
