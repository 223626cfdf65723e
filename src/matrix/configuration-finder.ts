/**
 * Finds the configuration that panels are of, from their pictures alone and in some milliseconds: the one
 * whose figures in its places explain most ink. Letters, photographs and other tests are explained badly by
 * all of them.
 */
import { FigureFinder } from './figure-finder.js';
import { inkOf } from './figure-form.js';
import { ALL_LAYOUTS, hasGrid, type ConfigurationLayout } from './layouts.js';

/** A configuration and how well it explains some panels. */
export interface FoundConfiguration {
  readonly layout: ConfigurationLayout;
  /** Share of all squared ink that the best figures in its places explain: at most 1. */
  readonly explained: number;
  /** Squared ink of a pixel that is left, in the mean. */
  readonly left: number;
}

/** Coarse, so that a blurred or slightly moved picture is recognised as well. */
const SIDE = 32;
/** From this share on a configuration is recognised ... */
const LEAST_EXPLAINED = 0.6;
/** ... if no more than this is left: dark all over, as photographs are, is no matrix. */
const MOST_LEFT = 0.03;
/** From this share on nobody looks for noise in what has no grid. */
const SURELY_EXPLAINED = 0.85;
/** Figures that may differ in a panel always explain a little more; noise explains more than this. */
const NOISE_EXPLAINS = 0.01;

/** Made when a layout is first looked for. */
const finders = new Map<ConfigurationLayout, FigureFinder>();

function tryLayout(layout: ConfigurationLayout, inks: readonly Float32Array[]): FoundConfiguration {
  const finder = finders.get(layout) ?? new FigureFinder(layout, { side: SIDE, truncated: true });
  finders.set(layout, finder);
  let [gain, all] = [0, 0];
  for (const { explained, ink } of inks.map((each) => finder.read(each))) {
    gain += explained * ink;
    all += ink;
  }
  const pixels = inks.length * SIDE * SIDE;
  return { layout, explained: all === 0 ? 0 : gain / all, left: (all - gain) / pixels };
}

const byExplained = (a: FoundConfiguration, b: FoundConfiguration): number =>
  b.explained - a.explained;

/** Whether a layout with noise is worth a look, which takes longer than all others together. */
const isWorthwhile = (
  { configuration, noisy }: ConfigurationLayout,
  plain: FoundConfiguration | undefined,
): boolean => {
  if (!noisy || plain === undefined) return noisy;
  return hasGrid(plain.layout.configuration)
    ? configuration === plain.layout.configuration
    : plain.explained < SURELY_EXPLAINED;
};

/**
 * The layout that panels of 64x64 values (1 = white) are of, among some; null if they are of none. A noisy
 * one is found only if it explains more than the same without noise.
 */
export function findConfiguration(
  panels: readonly Float32Array[],
  among: readonly ConfigurationLayout[] = ALL_LAYOUTS,
): FoundConfiguration | null {
  const inks = panels.map((panel) => inkOf(panel, SIDE));
  const tried = (layout: ConfigurationLayout): FoundConfiguration => tryLayout(layout, inks);
  const plain = among
    .filter(({ noisy }) => !noisy)
    .map(tried)
    .sort(byExplained)
    .at(0);
  const noisy = among
    .filter((layout) => isWorthwhile(layout, plain))
    .map(tried)
    .sort(byExplained)
    .at(0);
  const least = (plain?.explained ?? -Infinity) + NOISE_EXPLAINS;
  const best = noisy !== undefined && noisy.explained > least ? noisy : plain;
  const isKnown = best !== undefined && best.explained >= LEAST_EXPLAINED && best.left <= MOST_LEFT;
  return isKnown ? best : null;
}
