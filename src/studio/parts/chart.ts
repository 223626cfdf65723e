/** Charts by Observable Plot, loaded when the first one is drawn. */
import type { PlotOptions } from '@observablehq/plot';
import type * as Plot from './plot.js';

export type Library = typeof Plot;

let loading: Promise<Library> | null = null;
const library = (): Promise<Library> => (loading ??= import('./plot.js'));

/** Puts a chart into a place in the stead of an older one; returns what calls it off. */
export function drawChart(
  place: HTMLElement | null,
  describe: (plot: Library) => PlotOptions,
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

/** The same as wide as its place, drawn again when that changes: letters keep their size. */
export function drawAsWide(
  place: HTMLElement | null,
  describe: (plot: Library, width: number) => PlotOptions,
): () => void {
  if (place === null) return () => undefined;
  let drawn = 0;
  let callOff = (): void => undefined;
  const observer = new ResizeObserver(([{ contentRect }]) => {
    const width = Math.round(contentRect.width);
    if (width === drawn || width === 0) return;
    drawn = width;
    callOff();
    callOff = drawChart(place, (plot) => describe(plot, width));
  });
  observer.observe(place);
  return () => {
    observer.disconnect();
    callOff();
  };
}
