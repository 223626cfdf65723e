/**
 * Where the names of true rules stand on a rule map: in the thick of the points that have them, and only
 * if most points around have the same rule. Early in training little has come apart, and little is named.
 */
import type { PlaneLabel } from './protocol.js';

/** How many points around one are asked. */
const AROUND = 8;
/** Share of them that must have the same rule. */
const LEAST_SHARE = 0.6;
/** Rules of fewer matrices have no place of their own. */
const LEAST_POINTS = 3;

interface Neighbour {
  readonly kind: number;
  readonly away: number;
}

/** The points nearest to one, nearest first. `points` holds x, y of each. */
function nearest(
  points: Float32Array,
  classOf: readonly number[],
  of: number,
  count: number,
): Neighbour[] {
  const found: Neighbour[] = [];
  for (let n = 0; n < classOf.length; n++) {
    const away = Math.hypot(points[2 * n] - points[2 * of], points[2 * n + 1] - points[2 * of + 1]);
    if (n === of || (found.length === count && away >= found[count - 1].away)) continue;
    const at = found.findIndex((each) => each.away > away);
    found.splice(at < 0 ? found.length : at, 0, { kind: classOf[n], away });
    if (found.length > count) found.pop();
  }
  return found;
}

/** The point of a class with the purest and then the densest surroundings; null if they are mixed. */
function thickOf(points: Float32Array, classOf: readonly number[], kind: number): number | null {
  const members = classOf.flatMap((each, n) => (each === kind ? [n] : []));
  if (members.length < LEAST_POINTS) return null;
  const asked = Math.min(AROUND, members.length - 1);
  let best = { n: -1, share: LEAST_SHARE, away: Infinity };
  for (const n of members) {
    const around = nearest(points, classOf, n, asked);
    const share = around.filter((each) => each.kind === kind).length / asked;
    const { away } = around[asked - 1];
    if (share > best.share || (share === best.share && away < best.away)) best = { n, share, away };
  }
  return best.n < 0 ? null : best.n;
}

/** Places for the names of `classes` classes among points (x, y of each, in one array). */
export function clusterLabels(
  points: Float32Array,
  classOf: readonly number[],
  classes: number,
): PlaneLabel[] {
  return Array.from({ length: classes }, (_, kind) => kind).flatMap((kind) => {
    const n = thickOf(points, classOf, kind);
    return n === null ? [] : [{ kind, x: points[2 * n], y: points[2 * n + 1] }];
  });
}
