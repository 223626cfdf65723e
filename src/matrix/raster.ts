/**
 * Filled and outlined figures on a grey raster, without antialiasing: the same pixels as OpenCV's
 * drawing functions, which drew the published data sets. Lines, outlines and fills follow its
 * documented conventions: 16 fractional bits, edges stepped row by row, round caps on outlines two
 * pixels wide. Only what the data sets need is here; pixels outside the raster are left out.
 */

/** A grey image whose values mean ink (0 none, 255 black), row by row. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** A point in pixels, x to the right, y down. */
export type Point = readonly [x: number, y: number];

const FRACTION_BITS = 16;
const ONE = 1 << FRACTION_BITS;
const HALF = ONE >> 1;

/** Rounds to the nearest integer, ties to the even one, as a processor does. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

const toFixed = (point: Point): Point => [point[0] * ONE, point[1] * ONE];

/** Nearest pixel of a fixed-point coordinate. */
const toPixel = (fixed: number): number => (fixed + HALF) >> FRACTION_BITS;

function put(raster: Raster, x: number, y: number, ink: number): void {
  if (x >= 0 && x < raster.width && y >= 0 && y < raster.height) {
    raster.data[y * raster.width + x] = ink;
  }
}

function putRun(raster: Raster, first: number, last: number, y: number, ink: number): void {
  if (y < 0 || y >= raster.height) return;
  const row = y * raster.width;
  const start = Math.max(first, 0);
  const end = Math.min(last, raster.width - 1);
  if (start <= end) raster.data.fill(ink, row + start, row + end + 1);
}

/** One pixel wide line between whole pixels: always stepped from left to right. */
function drawPixelLine(raster: Raster, a: Point, b: Point, ink: number): void {
  const [from, to] = b[0] < a[0] ? [b, a] : [a, b];
  const width = to[0] - from[0];
  const height = Math.abs(to[1] - from[1]);
  const down = to[1] < from[1] ? -1 : 1;
  const steep = height > width;
  const major = steep ? height : width;
  const minor = steep ? width : height;
  let [x, y] = from;
  let error = major - 2 * minor;
  for (let step = 0; step <= major; step++) {
    put(raster, x, y, ink);
    const both = error < 0;
    error += (both ? 2 * major : 0) - 2 * minor;
    if (both || !steep) x += 1;
    if (both || steep) y += down;
  }
}

/** One pixel wide line between fixed-point positions. */
export function drawFixedLine(raster: Raster, a: Point, b: Point, ink: number): void {
  const width = Math.abs(b[0] - a[0]);
  const height = Math.abs(b[1] - a[1]);
  const flat = width > height;
  const swapped = flat ? b[0] < a[0] : b[1] < a[1];
  const [from, to] = swapped ? [b, a] : [a, b];
  put(raster, toPixel(to[0]), toPixel(to[1]), ink);
  // Along the longer axis one pixel a step, along the other a fixed-point slope.
  const major = flat ? 0 : 1;
  const minor = 1 - major;
  const slope = Math.trunc(((to[minor] - from[minor]) * ONE) / ((flat ? width : height) | 1));
  const steps = (to[major] - from[major]) >> FRACTION_BITS;
  let along = toPixel(from[major]);
  let across = from[minor] + HALF;
  for (let step = 0; step <= steps; step++) {
    const pixel = across >> FRACTION_BITS;
    put(raster, flat ? along : pixel, flat ? pixel : along, ink);
    along += 1;
    across += slope;
  }
}

/** One of the two chains of edges that bound a convex polygon, walked downwards. */
interface Chain {
  vertex: number;
  readonly direction: 1 | -1;
  /** Row at which the current edge ends. */
  end: number;
  x: number;
  slope: number;
}

/**
 * Moves a chain on to the edge that covers row `y`. Returns how many of the polygon's `edgesLeft`
 * edges remain, negative where there is no edge any more.
 */
function advance(chain: Chain, vertices: readonly Point[], y: number, edgesLeft: number): number {
  const count = vertices.length;
  let from = chain.vertex;
  let left = edgesLeft;
  while (left > 0) {
    left -= 1;
    const to = (from + chain.direction + count) % count;
    const end = toPixel(vertices[to][1]);
    if (end > y) {
      const rows = end - y;
      const run = vertices[to][0] - vertices[from][0];
      chain.vertex = to;
      chain.end = end;
      chain.x = vertices[from][0];
      chain.slope = Math.trunc((run * 2 + rows) / (2 * rows));
      return left;
    }
    from = to;
  }
  return -1;
}

/** The rows of a convex polygon between its two chains; vertices in fixed point. */
function fillRows(raster: Raster, vertices: readonly Point[], ink: number): void {
  let top = 0;
  let bottom = vertices[0][1];
  vertices.forEach(([, y], index) => {
    if (y < vertices[top][1]) top = index;
    bottom = Math.max(bottom, y);
  });
  const firstRow = toPixel(vertices[top][1]);
  const lastRow = Math.min(toPixel(bottom), raster.height - 1);
  const start = { vertex: top, end: firstRow, x: -ONE, slope: 0 };
  const chains: Chain[] = [
    { ...start, direction: 1 },
    { ...start, direction: -1 },
  ];
  let edgesLeft = vertices.length;
  for (let y = firstRow; y <= lastRow; y++) {
    for (const chain of chains) {
      if (y >= chain.end) edgesLeft = advance(chain, vertices, y, edgesLeft);
    }
    if (edgesLeft < 0) return;
    const [a, b] = chains;
    putRun(raster, toPixel(Math.min(a.x, b.x)), toPixel(Math.max(a.x, b.x)), y, ink);
    a.x += a.slope;
    b.x += b.slope;
  }
}

/** Fills a convex polygon whose vertices are whole pixels, its border included. */
export function fillConvexPolygon(raster: Raster, vertices: readonly Point[], ink: number): void {
  vertices.forEach((vertex, index) => {
    drawPixelLine(raster, vertices.at(index - 1) ?? vertex, vertex, ink);
  });
  fillRows(raster, vertices.map(toFixed), ink);
}

/** Fills a disc around a whole pixel, its border included. */
export function fillCircle(raster: Raster, centre: Point, radius: number, ink: number): void {
  const [x, y] = centre;
  let error = 0;
  let across = radius;
  let up = 0;
  while (across >= up) {
    putRun(raster, x - across, x + across, y - up, ink);
    putRun(raster, x - across, x + across, y + up, ink);
    putRun(raster, x - up, x + up, y - across, ink);
    putRun(raster, x - up, x + up, y + across, ink);
    error += 2 * up + 1;
    up += 1;
    if (error > 0) {
      error -= 2 * across - 1;
      across -= 1;
    }
  }
}

/** A two pixels wide segment between fixed-point positions, with a round cap at its end. */
function drawThickSegment(raster: Raster, from: Point, to: Point, ink: number): void {
  const dx = (from[0] - to[0]) / ONE;
  const dy = (to[1] - from[1]) / ONE;
  const squared = dx * dx + dy * dy;
  if (squared > 0) {
    const scale = ONE / Math.sqrt(squared);
    const x = roundHalfEven(dy * scale);
    const y = roundHalfEven(dx * scale);
    const corners: Point[] = [
      [from[0] + x, from[1] + y],
      [from[0] - x, from[1] - y],
      [to[0] - x, to[1] - y],
      [to[0] + x, to[1] + y],
    ];
    corners.forEach((corner, index) => {
      drawFixedLine(raster, corners.at(index - 1) ?? corner, corner, ink);
    });
    fillRows(raster, corners, ink);
  }
  drawCap(raster, to, ink);
}

const drawCap = (raster: Raster, at: Point, ink: number): void =>
  fillCircle(raster, [toPixel(at[0]), toPixel(at[1])], 1, ink);

/** A two pixels wide line between whole pixels, with round caps. */
export function drawLine(raster: Raster, from: Point, to: Point, ink: number): void {
  const start = toFixed(from);
  drawCap(raster, start, ink);
  drawThickSegment(raster, start, toFixed(to), ink);
}

/** Outlines a polygon two pixels wide; its vertices are whole pixels. */
export function outlinePolygon(raster: Raster, vertices: readonly Point[], ink: number): void {
  const corners = vertices.map(toFixed);
  corners.forEach((corner, index) => {
    drawThickSegment(raster, corners.at(index - 1) ?? corner, corner, ink);
  });
}

/** Sine of whole degrees, to the seven decimals of single precision that the data sets were drawn with. */
const sineOfDegrees = (degrees: number): number =>
  Math.fround(Math.round(Math.sin((degrees * Math.PI) / 180) * 1e7) / 1e7);

/** Degrees between the corners of the polygon that stands for a circle. */
function circleStep(radius: number): number {
  if (radius < 3) return 90;
  if (radius < 10) return 30;
  return radius < 15 ? 18 : 5;
}

/** Outlines a circle two pixels wide, as an open polygon of many corners. */
export function outlineCircle(raster: Raster, centre: Point, radius: number, ink: number): void {
  const step = circleStep(radius);
  const corners: Point[] = [];
  for (let degrees = 0; degrees <= 360; degrees += step) {
    const x = centre[0] * ONE + radius * ONE * sineOfDegrees(degrees + 90);
    const y = centre[1] * ONE + radius * ONE * sineOfDegrees(degrees);
    corners.push([roundHalfEven(x), roundHalfEven(y)]);
  }
  drawCap(raster, corners[0], ink);
  for (let index = 1; index < corners.length; index++) {
    drawThickSegment(raster, corners[index - 1], corners[index], ink);
  }
}
