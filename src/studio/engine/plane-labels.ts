/**
 * Where the names of true rules stand on a rule map: in the thick of the points that have them, and only
 * if most points around have the same rule. Points of a rule that lie in several places are named in each.
 * Early in training little has come apart, and little is named.
 */
import type { PlaneLabel } from './protocol.js';

/** How many points around one are asked. */
const AROUND = 8;
/** Share of them that must have the same rule. */
const LEAST_SHARE = 0.6;
/** Rules of fewer matrices have no place of their own. */
const LEAST_POINTS = 3;
/** A gap of this share of the map's extent parts points into two places. */
const GAP = 0.08;
/** A place with a smaller share of a rule's points is not named. */
const LEAST_PART = 0.15;

interface Neighbour {
  readonly kind: number;
  readonly away: number;
}

const distance = (points: Float32Array, a: number, b: number): number =>
  Math.hypot(points[2 * a] - points[2 * b], points[2 * a + 1] - points[2 * b + 1]);

/** The points nearest to one, nearest first. `points` holds x, y of each. */
function nearest(
  points: Float32Array,
  classOf: readonly number[],
  of: number,
  count: number,
): Neighbour[] {
  const found: Neighbour[] = [];
  for (let n = 0; n < classOf.length; n++) {
    const away = distance(points, n, of);
    if (n === of || (found.length === count && away >= found[count - 1].away)) continue;
    const at = found.findIndex((each) => each.away > away);
    found.splice(at < 0 ? found.length : at, 0, { kind: classOf[n], away });
    if (found.length > count) found.pop();
  }
  return found;
}

/** Members in groups with gaps of at least `gap` between them. */
function placesOf(points: Float32Array, members: readonly number[], gap: number): number[][] {
  const left = new Set(members);
  const places: number[][] = [];
  for (const first of members) {
    if (!left.delete(first)) continue;
    const place = [first];
    // Grows while it is walked through.
    for (const n of place) {
      const near = [...left].filter((other) => distance(points, n, other) < gap);
      for (const other of near) left.delete(other);
      place.push(...near);
    }
    places.push(place);
  }
  return places;
}

/** The point of a place with the purest and then the densest surroundings; null if they are mixed. */
function thickOf(
  points: Float32Array,
  classOf: readonly number[],
  place: readonly number[],
): number | null {
  const asked = Math.min(AROUND, place.length - 1);
  let best = { n: -1, share: LEAST_SHARE, away: Infinity };
  for (const n of place) {
    const around = nearest(points, classOf, n, asked);
    const share = around.filter(({ kind }) => kind === classOf[n]).length / asked;
    const { away } = around[asked - 1];
    if (share > best.share || (share === best.share && away < best.away)) best = { n, share, away };
  }
  return best.n < 0 ? null : best.n;
}

/** The diagonal of the box around all points. */
function extentOf(points: Float32Array): number {
  const along = (axis: number): number => {
    const values = points.filter((_, i) => i % 2 === axis);
    return values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b));
  };
  return Math.hypot(along(0), along(1));
}

/** Places for the names of `classes` classes among points (x, y of each, in one array). */
export function clusterLabels(
  points: Float32Array,
  classOf: readonly number[],
  classes: number,
): PlaneLabel[] {
  const gap = GAP * extentOf(points);
  return Array.from({ length: classes }, (_, kind) => kind).flatMap((kind) => {
    const members = classOf.flatMap((each, n) => (each === kind ? [n] : []));
    const least = Math.max(LEAST_POINTS, LEAST_PART * members.length);
    return placesOf(points, members, gap)
      .filter(({ length }) => length >= least)
      .flatMap((place) => thickOf(points, classOf, place) ?? [])
      .map((n) => ({ kind, x: points[2 * n], y: points[2 * n + 1] }));
  });
}
