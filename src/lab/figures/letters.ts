/** Letters for places among points: beside the place where fewest points are, with a line to it. */

/** A place in pixels. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

const DISTANCES = [18, 30, 44];
const DIRECTIONS = 16;
/** Half the side of a letter with its room. */
const REACH = 11;

/** How much lies under a letter at a place. */
function covered(at: Place, things: readonly Place[]): number {
  return things.filter(({ x, y }) => Math.abs(x - at.x) < REACH && Math.abs(y - at.y) < REACH)
    .length;
}

/** Where the letters of `anchors` go, each within the box and clear of points and of other letters. */
export function placeLetters(
  anchors: readonly Place[],
  points: readonly Place[],
  box: { readonly width: number; readonly height: number },
): Place[] {
  const placed: Place[] = [];
  for (const { x, y } of anchors) {
    const tries = DISTANCES.flatMap((distance) =>
      Array.from({ length: DIRECTIONS }, (_, i) => {
        const angle = (2 * Math.PI * i) / DIRECTIONS - Math.PI / 2;
        const at = { x: x + distance * Math.cos(angle), y: y + distance * Math.sin(angle) };
        const inside =
          at.x > REACH && at.y > REACH && at.x < box.width - REACH && at.y < box.height - REACH;
        const cost =
          covered(at, points) +
          50 * covered(at, [...placed, ...anchors]) +
          distance / 20 +
          (inside ? 0 : 1000);
        return { at, cost };
      }),
    );
    placed.push(tries.reduce((best, each) => (each.cost < best.cost ? each : best)).at);
  }
  return placed;
}
