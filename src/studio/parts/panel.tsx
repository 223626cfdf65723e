/** A panel: drawn from its description, or from the values a model imagined. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { PanelView } from '../engine/protocol.js';

const SIDE = 64;

/** A panel that is known: crisp lines, or a person's own picture. */
export function Drawing({ panel: { picture, alt } }: { readonly panel: PanelView }) {
  const common = { class: 'panel drawing', role: 'img' as const, 'aria-label': alt };
  if ('src' in picture) return <img {...common} src={picture.src} draggable={false} />;
  return (
    <svg {...common} viewBox="0 0 160 160" dangerouslySetInnerHTML={{ __html: picture.shapes }} />
  );
}

/** 64x64 grey values in [0, 1] on a canvas. */
export function Pixels({
  values,
  label,
}: {
  readonly values: Float32Array;
  readonly label: string;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context) context.putImageData(greyImage(values), 0, 0);
  }, [values]);
  return (
    <canvas
      ref={canvas}
      class="panel pixels"
      width={SIDE}
      height={SIDE}
      role="img"
      aria-label={label}
    />
  );
}

function greyImage(values: Float32Array): ImageData {
  const image = new ImageData(SIDE, SIDE);
  const { data } = image;
  data.fill(255);
  for (let i = 0; i < values.length; i++) {
    const grey = Math.round(255 * values[i]);
    // The array clamps to 0..255 by itself.
    data[4 * i] = grey;
    data[4 * i + 1] = grey;
    data[4 * i + 2] = grey;
  }
  return image;
}

/** A place where a panel is not there yet. */
export function Blank({
  label,
  busy = false,
}: {
  readonly label: string;
  readonly busy?: boolean;
}) {
  return (
    <div class={`panel blank${busy ? ' busy' : ''}`} role="img" aria-label={label}>
      <span aria-hidden="true">?</span>
    </div>
  );
}
