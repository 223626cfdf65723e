/**
 * How many problems of RAVEN people solve, in percent, by configuration: Zhang et al. 2019,
 * whose table has the columns of `RAVEN_ORDER`. CRAB's paper prints the same row under headings in another
 * order (Center, L-R, U-D, O-IC, O-IG, 2x2Grid, 3x3Grid), so that those under L-R, U-D, 2x2Grid and
 * 3x3Grid are figures of other configurations.
 */
import type { Configuration } from './problem.js';

/** Columns of RAVEN's table. */
export const RAVEN_ORDER = [
  'center',
  'grid-2x2',
  'grid-3x3',
  'left-right',
  'up-down',
  'out-in-center',
  'out-in-grid',
] as const satisfies readonly Configuration[];

/** Their average over all problems, as published there. */
export const HUMAN_AVERAGE = 84.41;

export const HUMAN_ACCURACY: Readonly<Record<Configuration, number>> = {
  center: 95.45,
  'grid-2x2': 81.82,
  'grid-3x3': 79.55,
  'left-right': 86.36,
  'up-down': 81.81,
  'out-in-center': 86.36,
  'out-in-grid': 81.81,
};
