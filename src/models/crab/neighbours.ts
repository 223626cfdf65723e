/** The 3x3 matrix as a target predictor's convolution sees it; shared by the network and its export. */

export const SIDE = 3;
/** Weights of a 3x3 kernel. */
export const TAPS = 9;

const POSITIONS = SIDE * SIDE;

/** For each position and each tap of a 3x3 kernel the neighbour it meets; 9 is the zero border. */
export const NEIGHBOURS: readonly number[] = Array.from({ length: POSITIONS * TAPS }, (_, i) => {
  const [position, tap] = [Math.floor(i / TAPS), i % TAPS];
  const row = Math.floor(position / SIDE) + Math.floor(tap / SIDE) - 1;
  const column = (position % SIDE) + (tap % SIDE) - 1;
  const inside = row >= 0 && row < SIDE && column >= 0 && column < SIDE;
  return inside ? row * SIDE + column : POSITIONS;
});

/**
 * The same as a matrix [taps, 9 * 9] (row by row; column: position to, position from) that spreads a
 * kernel out: 1 where a tap leads from the one position to the other.
 */
export const SPREAD: readonly number[] = Array.from(
  { length: TAPS * POSITIONS * POSITIONS },
  (_, i) => {
    const [tap, to] = [Math.floor(i / POSITIONS ** 2), Math.floor(i / POSITIONS) % POSITIONS];
    return NEIGHBOURS[to * TAPS + tap] === i % POSITIONS ? 1 : 0;
  },
);
