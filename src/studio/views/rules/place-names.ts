/**
 * Places for the names of clusters on a map: close to the cluster, over as few points as possible, and
 * apart from each other.
 */

/** About how large a name is, in pixels: enough to keep names apart. */
const LETTER = 6.3;
const PADDING = 8;
export const NAME_HEIGHT = 16;
/** Ways a name may lie from its cluster's middle, and how far its edge may be from it, in pixels. */
const WAYS = Array.from({ length: 12 }, (_, i) => (i * Math.PI) / 6);
const DISTANCES = [6, 16, 28, 42, 60, 84];
/** What a pixel of distance costs; a covered point costs 1. */
const DISTANCE_COST = 0.08;

export type Place = readonly [x: number, y: number];

interface Name {
  readonly text: string;
  readonly colour: string;
  /** The middle of its cluster, in pixels. */
  readonly at: Place;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

const overlaps = (a: Box, b: Box): boolean =>
  a.left < b.left + b.width &&
  b.left < a.left + a.width &&
  a.top < b.top + NAME_HEIGHT &&
  b.top < a.top + NAME_HEIGHT;

const covers = ({ left, top, width }: Box, [x, y]: Place): boolean =>
  x >= left && x <= left + width && y >= top && y <= top + NAME_HEIGHT;

/** All places for a name, with what its distance costs. */
function boxesFor({ text, at: [x, y] }: Name): (Box & { readonly cost: number })[] {
  const width = LETTER * text.length + PADDING;
  return DISTANCES.flatMap((distance) =>
    WAYS.map((angle) => ({
      width,
      left: x + Math.cos(angle) * (distance + width / 2) - width / 2,
      top: y + Math.sin(angle) * (distance + NAME_HEIGHT / 2) - NAME_HEIGHT / 2,
      cost: DISTANCE_COST * distance,
    })),
  );
}

/** A place for each name on a map of so many pixels, off what is taken; what finds none is left to the legend. */
export function placeNames<Kind extends Name>(
  names: readonly Kind[],
  points: readonly Place[],
  side: number,
  taken: readonly Box[] = [],
): (Kind & Box)[] {
  const placed: (Kind & Box)[] = [];
  for (const name of names) {
    const free = boxesFor(name).filter(
      (box) =>
        box.left >= 2 &&
        box.left + box.width <= side - 2 &&
        box.top >= 2 &&
        box.top + NAME_HEIGHT <= side - 2 &&
        ![...taken, ...placed].some((each) => overlaps(each, box)),
    );
    const costs = free.map((box) => box.cost + points.filter((point) => covers(box, point)).length);
    const best = free.at(costs.indexOf(Math.min(...costs)));
    if (best !== undefined) placed.push({ ...name, ...best });
  }
  return placed;
}
