/** Panels as models see them. */
import { renderPanel64, type ConfigurationLayout, type Panel } from '../../src/matrix/index.js';

/** Grey values in [0, 1], 64x64, of a panel. */
export const pixelsOf = (layout: ConfigurationLayout, panel: Panel): Float32Array =>
  Float32Array.from(renderPanel64(layout, panel), (byte) => byte / 255);
