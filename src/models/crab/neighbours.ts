/** The 3x3 matrix as a target predictor's convolution sees it, for the export. */

const SIDE = 3;
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
