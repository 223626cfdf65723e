/**
 * Where the names of true rules stand on a rule map: in the thick of the points that have them, and only
 * if most points around have the same rule. Points of a rule that lie in several places are named in each.
 * A place that two rules share has the names of both. Early in training little has come apart, and little
 * is named.
 */
import type { PlaneLabel } from './protocol.js';

/** How many points around one are asked. */
const AROUND = 8;
/** Share of them that must have the same rule. */
const LEAST_SHARE = 0.6;
/** Rules of fewer matrices have no place of their own. */
const LEAST_POINTS = 3;
/** Share of the points around a place's own from which on another rule may be its second. */
const SECOND_SHARE = 1 / 3;
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

interface Place {
  readonly kind: number;
  readonly members: readonly number[];
  /** The point with the purest and then the densest surroundings; null if all are mixed. */
  readonly thick: number | null;
  /** The other rule of which most points are around, if they are many. */
  readonly second: number | null;
}

function readPlace(
  points: Float32Array,
  classOf: readonly number[],
  members: readonly number[],
): Place {
  const kind = classOf[members[0]];
  const asked = Math.min(AROUND, members.length - 1);
  const others = new Map<number, number>();
  let best = { n: -1, share: LEAST_SHARE, away: Infinity };
  for (const n of members) {
    const around = nearest(points, classOf, n, asked);
    const foreign = around.filter((each) => each.kind !== kind);
    for (const each of foreign) others.set(each.kind, (others.get(each.kind) ?? 0) + 1);
    const share = (asked - foreign.length) / asked;
    const { away } = around[asked - 1];
    if (share > best.share || (share === best.share && away < best.away)) best = { n, share, away };
  }
  const [second, count] = [...others].sort((a, b) => b[1] - a[1]).at(0) ?? [null, 0];
  const isMany = count >= SECOND_SHARE * asked * members.length;
  return { kind, members, thick: best.n < 0 ? null : best.n, second: isMany ? second : null };
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
  const places = Array.from({ length: classes }, (_, kind) => kind).flatMap((kind) => {
    const all = classOf.flatMap((each, n) => (each === kind ? [n] : []));
    const least = Math.max(LEAST_POINTS, LEAST_PART * all.length);
    return placesOf(points, all, gap)
      .filter(({ length }) => length >= least)
      .map((members) => readPlace(points, classOf, members));
  });
  // Two rules share a place if each is the other's second: a small place beside a large one is its own.
  const partnerOf = ({ kind, members, second }: Place): Place | undefined =>
    places.find(
      (other) =>
        other.kind === second &&
        other.second === kind &&
        members.some((a) => other.members.some((b) => distance(points, a, b) < gap)),
    );
  return places.flatMap((place) => {
    const { kind, thick } = place;
    const partner = partnerOf(place);
    const isNamed = partner !== undefined && partner.thick !== null && partner.kind < kind;
    if (thick === null || isNamed) return [];
    const also = partner?.kind ?? null;
    return [{ kind, also, x: points[2 * thick], y: points[2 * thick + 1] }];
  });
}
