/** Arbitrary problems for property tests: any layout, variant, seed and index. */
import fc from 'fast-check';
import {
  ALL_LAYOUTS,
  sampleProblem,
  VARIANTS,
  type ConfigurationLayout,
  type Problem,
  type Variant,
} from '../../src/matrix/index.js';

/** How many problems a property test looks at. */
export const RUNS = process.env.CRAB_TEST_LONG ? 5000 : 150;

export const anySeed = fc.maxSafeInteger();
export const anyIndex = fc.nat({ max: 1_000_000 });

/** Every layout with every variant, for `test.each`. */
export const KINDS: readonly (readonly [string, ConfigurationLayout, Variant])[] =
  ALL_LAYOUTS.flatMap((layout) =>
    VARIANTS.map((variant) => [`${variant} ${layout.folder}`, layout, variant] as const),
  );

export const problemsOf = (
  { configuration, noisy }: ConfigurationLayout,
  variant: Variant,
): fc.Arbitrary<Problem> =>
  fc
    .tuple(anySeed, anyIndex)
    .map(([seed, index]) => sampleProblem({ configuration, noisy, variant, seed, index }));

export const anyProblem: fc.Arbitrary<Problem> = fc
  .constantFrom(...KINDS)
  .chain(([, layout, variant]) => problemsOf(layout, variant));
