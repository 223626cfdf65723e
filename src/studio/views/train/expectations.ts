/** What was measured (docs/results.md), so that nobody waits for what cannot come. */
export const EXPECTED =
  'Two minutes on an ordinary processor show panels take shape and rules begin to part, not good choices: guessing is right in 12.5%. A small network for Center, on two cores, chose right in 42% of RAVEN (62% of I-RAVEN) after 17 minutes and in 84% (90%) after 45.';

export const ON_A_GPU = 'On one large GPU the models of this page took 6 to 9 minutes each';
