/** What `render.json` holds, computed anew. */
import { createHash } from 'node:crypto';
import {
  ALL_LAYOUTS,
  downscale,
  renderPanelPlainly,
  SMALL_PIXELS,
} from '../../../src/matrix/index.js';
import { FIXED_PANELS, fixedPanel } from '../drawable.js';

const hash = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 32);

export interface PanelHashes {
  readonly image: string;
  readonly small: string;
}

/** Hashes of the fixed panels by folder name of the layout. */
export function renderGolden(): Record<string, PanelHashes[]> {
  const entries = ALL_LAYOUTS.map((layout) => {
    const hashes = Array.from({ length: FIXED_PANELS }, (_, step) => {
      const image = renderPanelPlainly(layout, fixedPanel(layout, step));
      const small = new Uint8Array(SMALL_PIXELS);
      downscale(image, small);
      return { image: hash(image), small: hash(small) };
    });
    return [layout.folder, hashes] as const;
  });
  return Object.fromEntries(entries);
}
