/**
 * Points of a map that lie on each other, set side by side, so that one sees how many there are. A point
 * whose place is free stays; another goes to the nearest free place around its own.
 */

/** Places around a point, nearest first: a sunflower's, which fill a disc evenly. */
const TURN = Math.PI * (3 - Math.sqrt(5));

/** A point that went further than this multiple of `apart` lies visibly elsewhere. */
const FAR = 3;

export interface SpreadPoints {
  /** x, y of each, in the order they were given in. */
  readonly points: Float32Array;
  /** Share of the points that had to go far: 0 none, 1 all. */
  readonly moved: number;
}

/** `points`: x, y of each. No two of the spread ones are nearer to each other than `apart`. */
export function spreadPoints(points: Float32Array, apart: number): SpreadPoints {
  const spread = new Float32Array(points.length);
  const taken = new Map<string, number[]>();
  const cellOf = (value: number): number => Math.floor(value / apart);
  const isFree = (x: number, y: number): boolean => {
    for (let column = cellOf(x) - 1; column <= cellOf(x) + 1; column++) {
      for (let row = cellOf(y) - 1; row <= cellOf(y) + 1; row++) {
        for (const n of taken.get(`${column} ${row}`) ?? []) {
          if (Math.hypot(spread[2 * n] - x, spread[2 * n + 1] - y) < apart) return false;
        }
      }
    }
    return true;
  };
  let moved = 0;
  for (let n = 0; n < points.length / 2; n++) {
    let [x, y] = [points[2 * n], points[2 * n + 1]];
    for (let i = 1; !isFree(x, y); i++) {
      const away = (apart / 2) * Math.sqrt(i);
      x = points[2 * n] + away * Math.cos(i * TURN);
      y = points[2 * n + 1] + away * Math.sin(i * TURN);
    }
    spread.set([x, y], 2 * n);
    const key = `${cellOf(x)} ${cellOf(y)}`;
    taken.set(key, [...(taken.get(key) ?? []), n]);
    if (Math.hypot(x - points[2 * n], y - points[2 * n + 1]) > FAR * apart) moved++;
  }
  return { points: spread, moved: (2 * moved) / points.length };
}
