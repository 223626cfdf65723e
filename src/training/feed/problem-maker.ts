/** Makes the nine 64x64 panels of one problem, the only part of it that training uses. */
import {
  layoutOf,
  render64Into,
  samplePanels,
  SMALL_PIXELS,
  type Configuration,
} from '../../matrix/index.js';

/** Where endless problems come from; problem i of it is the same wherever and whenever it is made. */
export interface ProblemSource {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly seed: number;
}

/** Draws problem `index` of a source into `out` from `offset`: u8 [9, 64, 64]. */
export function makeProblem(
  source: ProblemSource,
  index: number,
  out: Uint8Array,
  offset: number,
): void {
  const layout = layoutOf(source.configuration, source.noisy);
  const { panels } = samplePanels({ ...source, index });
  panels.forEach((panel, n) => render64Into(layout, panel, out, offset + n * SMALL_PIXELS));
}
