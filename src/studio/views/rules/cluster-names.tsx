/** The names of clusters of points, written into the map and tied to their cluster by a line. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PlaneView } from '../../engine/protocol.js';
import { eitherRule } from '../../engine/words.js';
import { lookOf } from '../../parts/rule-looks.js';
import { NAME_HEIGHT, placeNames, type Place } from './place-names.js';

/** Half of what the dot takes, in pixels. */
const DOT = 10;

/** Of Number and Position, which share a map, the legend has the full names. */
const short = (rule: string): string =>
  rule.replace(/^(number|position) (?:progression|distribute) /, '$1 ');

/** The width of an element, followed. */
function useWidth() {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { place, width };
}

interface ClusterNamesProps {
  readonly plane: PlaneView;
  /** x, y of each. */
  readonly points: Float32Array;
  readonly labels: PlaneView['labels'][number];
  /** A dot that no name may cover, on the plane; null if there is none. */
  readonly dot: Place | null;
  /** Shares of the map's side at which a place of the plane lies. */
  readonly shareOf: (place: Place) => Place;
}

export function ClusterNames({ plane, points, labels, dot, shareOf }: ClusterNamesProps) {
  const { place, width: side } = useWidth();
  const names = useMemo(() => {
    const pixels = (x: number, y: number): Place => {
      const [left, top] = shareOf([x, y]);
      return [left * side, top * side];
    };
    const wanted = labels.map(({ kind, also, x, y }) => {
      const [first, second] = [plane.classes[kind], plane.classes[also ?? kind]];
      const text = short(first.rule);
      return {
        text: also === null ? text : eitherRule(text, short(second.rule)),
        colour: lookOf(first).colour,
        second: lookOf(second).colour,
        at: pixels(x, y),
      };
    });
    const all = plane.classOf.map((_, n) => pixels(points[2 * n], points[2 * n + 1]));
    const [x, y] = dot === null ? [-side, -side] : pixels(...dot);
    const around = { left: x - DOT, top: y - NAME_HEIGHT / 2, width: 2 * DOT };
    return placeNames(wanted, all, side, [around]);
  }, [plane, points, labels, side, dot?.[0], dot?.[1]]);
  return (
    <div class="cluster-names" ref={place} aria-hidden="true">
      <svg>
        {names.map(({ colour, at: [x, y], left, top, width }, i) => (
          <line
            key={i}
            x1={x}
            y1={y}
            x2={Math.min(Math.max(x, left), left + width)}
            y2={Math.min(Math.max(y, top), top + NAME_HEIGHT)}
            stroke={colour}
          />
        ))}
      </svg>
      {names.map(({ text, colour, second, left, top, width }, i) => (
        <span
          key={i}
          style={`left: ${left}px; top: ${top}px; width: ${width}px; --rule: ${colour}; --second: ${second}`}
        >
          {text}
        </span>
      ))}
    </div>
  );
}
