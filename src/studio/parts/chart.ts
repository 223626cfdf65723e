/** Charts by Observable Plot, loaded when the first one is drawn. */
import type * as Plot from '@observablehq/plot';

let loading: Promise<typeof Plot> | null = null;
const library = (): Promise<typeof Plot> => (loading ??= import('@observablehq/plot'));

/** Puts a chart into a place in the stead of an older one; returns what calls it off. */
export function drawChart(
  place: HTMLElement | null,
  describe: (plot: typeof Plot) => Plot.PlotOptions,
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
