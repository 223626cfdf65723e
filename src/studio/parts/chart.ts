/** Charts by Observable Plot, loaded when the first one is drawn. */
import type { PlotOptions } from '@observablehq/plot';
import type * as Plot from './plot.js';

let loading: Promise<typeof Plot> | null = null;
const library = (): Promise<typeof Plot> => (loading ??= import('./plot.js'));

/** Puts a chart into a place in the stead of an older one; returns what calls it off. */
export function drawChart(
  place: HTMLElement | null,
  describe: (plot: typeof Plot) => PlotOptions,
): () => void {
  let wanted = true;
  void library().then((plot) => {
    if (!wanted || place === null) return;
    const chart = plot.plot(describe(plot));
    chart.setAttribute('aria-hidden', 'true');
    place.replaceChildren(chart);
  });
  return () => {
    wanted = false;
  };
}
