/** The plane of rules in miniature, with the place of this matrix's rule. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { PlaneView, RuleView } from '../../engine/protocol.js';
import { lookOf, UNKNOWN_LOOK } from '../../parts/rule-looks.js';

const SIDE = 120;
const DENSITY = 2;

export function MiniMap({ plane, rule }: { readonly plane: PlaneView; readonly rule: RuleView }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context) draw(context, plane, rule);
  }, [plane, rule]);
  const side = SIDE * DENSITY;
  return <canvas ref={canvas} class="mini-map" width={side} height={side} aria-hidden="true" />;
}

function draw(context: CanvasRenderingContext2D, plane: PlaneView, rule: RuleView): void {
  const side = SIDE * DENSITY;
  const x = (value: number): number => (side * (value - plane.x[0])) / (plane.x[1] - plane.x[0]);
  const y = (value: number): number =>
    side - (side * (value - plane.y[0])) / (plane.y[1] - plane.y[0]);
  const dot = (px: number, py: number, radius: number): void => {
    context.beginPath();
    context.arc(px, py, radius, 0, 2 * Math.PI);
    context.fill();
  };
  const colours = plane.classes.map((each) => lookOf(each).colour);
  context.clearRect(0, 0, side, side);
  context.globalAlpha = 0.55;
  const points = plane.moments.at(-1) ?? new Float32Array();
  for (let n = 0; n < points.length / 2; n++) {
    context.fillStyle = colours.at(plane.classOf[n] ?? colours.length) ?? UNKNOWN_LOOK.colour;
    dot(x(points[2 * n]), y(points[2 * n + 1]), 3);
  }
  context.globalAlpha = 1;
  const inside = (value: number): number => Math.min(side - 12, Math.max(12, value));
  const [px, py] = [inside(x(rule.vector[0])), inside(y(rule.vector[1]))];
  context.fillStyle = '#ffffff';
  dot(px, py, 11);
  context.fillStyle = '#c8401f';
  dot(px, py, 8);
}
