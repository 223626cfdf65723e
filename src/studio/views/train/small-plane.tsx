/** A small plane of rules: points without axes. */
import { useEffect, useRef } from 'preact/hooks';
import type { PlaneFrame } from '../../engine/protocol.js';
import { drawChart } from '../../parts/chart.js';
import type { RuleLook } from '../../parts/rule-looks.js';

const SIDE = 190;

export interface PlaneDot extends RuleLook {
  readonly x: number;
  readonly y: number;
}

interface SmallPlaneProps {
  /** The same object as long as nothing changes. */
  readonly dots: readonly PlaneDot[];
  /** What is shown of the plane; all points unless given. */
  readonly frame?: PlaneFrame;
}

export function SmallPlane({ dots, frame }: SmallPlaneProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      drawChart(place.current, (plot) => ({
        width: SIDE,
        height: SIDE,
        margin: 8,
        axis: null,
        x: { domain: frame?.x },
        y: { domain: frame?.y },
        marks: [
          plot.dot(dots, {
            x: 'x',
            y: 'y',
            r: 2,
            symbol: 'form',
            fill: 'colour',
            fillOpacity: 0.75,
          }),
        ],
      })),
    [dots, frame],
  );
  return <div ref={place} />;
}
