/**
 * Panels of a problem and how they make rows and columns. The eight context panels are numbered 0 to 7 in
 * reading order; a candidate takes the ninth place. All places are constants and picked by views, so that
 * a step can be captured as a CUDA graph.
 */
import { CANDIDATES, CONTEXT_PANELS } from '../../matrix/index.js';
import { cat, eye, nn, scope, stack, type Tensor } from '../../torch/index.js';

/** Two lines of the context, and the two panels that a candidate makes the third one. */
interface Lines {
  readonly complete: readonly (readonly number[])[];
  readonly open: readonly number[];
}

export const ROWS: Lines = {
  complete: [
    [0, 1, 2],
    [3, 4, 5],
  ],
  open: [6, 7],
};

export const COLUMNS: Lines = {
  complete: [
    [0, 3, 6],
    [1, 4, 7],
  ],
  open: [2, 5],
};

/** What a network makes of every panel by itself: two times [N, 8, S, S] to [N, 16, ...]. */
export function eachPanel(
  context: Tensor,
  candidates: Tensor,
  network: (pictures: Tensor) => Tensor,
): Tensor {
  const panels = cat([context, candidates], 1); // [N, 16, S, S]
  const [n, count, side] = panels.shape;
  return network(panels.reshape([n * count, 1, side, side])).unflatten(0, [n, count]);
}

/** Panels at some places: [N, 8, ...] to [N, places, ...]. */
const at = (panels: Tensor, places: readonly number[]): Tensor =>
  stack(
    places.map((place) => panels.select(1, place)),
    1,
  );

/** A value for each problem, once for each candidate: [N, ...] to [N, C, ...]. */
export function forEach(candidates: Tensor, one: Tensor): Tensor {
  const [n, ...rest] = one.shape;
  return one.unsqueeze(1).expand([n, candidates.shape[1], ...rest]);
}

/** Each candidate behind the context: [N, 8, ...] and [N, C, ...] to [N, C, 9, ...]. */
export function completed(context: Tensor, candidates: Tensor): Tensor {
  return cat([forEach(candidates, context), candidates.unsqueeze(2)], 2);
}

/** The two complete lines and the third one with each candidate: [N, 2 + C, 3, ...]. */
export function linesOf(context: Tensor, candidates: Tensor, { complete, open }: Lines): Tensor {
  const known = stack(
    complete.map((places) => at(context, places)),
    1,
  ); // [N, 2, 3, ...]
  const third = completed(at(context, open), candidates); // [N, C, 3, ...]
  return cat([known, third], 1);
}

/**
 * All panels as pictures, panels first: [N, P, S, S] each to [all P * N, 1, S, S]. What a network makes of
 * one panel in all problems then lies together, and maps of panels can be summed without copies.
 */
export function panelsFirst(...panels: readonly Tensor[]): Tensor {
  return cat(
    panels.map((each) => each.transpose(0, 1)),
    0,
  )
    .flatten(0, 1)
    .unsqueeze(1);
}

const sumAt = (panels: readonly Tensor[], places: readonly number[]): Tensor =>
  places.map((place) => panels[place]).reduce((sum, panel) => sum.add(panel));

/** Each complete line as the sum of its panels: eight maps [N, ...] to [2 * N, ...], lines first. */
export function knownLineSums(context: readonly Tensor[], { complete }: Lines): Tensor {
  return cat(
    complete.map((places) => sumAt(context, places)),
    0,
  );
}

/** The same and the third line with each of the candidates [C * N, ...]: [(2 + C) * N, ...]. */
export function lineSums(context: readonly Tensor[], candidates: Tensor, lines: Lines): Tensor {
  const open = sumAt(context, lines.open); // [N, ...]
  const [n] = open.shape;
  const third = candidates.unflatten(0, [candidates.shape[0] / n, n]).add(open); // [C, N, ...]
  return cat([...lines.complete.map((places) => sumAt(context, places)), third.flatten(0, 1)], 0);
}

/** Tells features where they come from: nine bits, one for each place; candidates share the ninth. */
export class PanelTags extends nn.Module {
  static readonly width = CONTEXT_PANELS + 1;
  readonly tags: nn.Buffer;

  constructor() {
    super();
    const tags = scope(() => {
      const places = eye(PanelTags.width); // [9, 9]
      const ninth = places.narrow(0, CONTEXT_PANELS, 1).expand([CANDIDATES, PanelTags.width]);
      return cat([places.narrow(0, 0, CONTEXT_PANELS), ninth], 0); // [16, 9]
    });
    this.tags = nn.buffer(tags, { persistent: false });
  }

  /** Features [N, 16, d] with their tags, [N, 16, d + 9]. */
  forward(features: Tensor): Tensor {
    const [n, panels] = features.shape;
    const tags = this.tags.to({ dtype: features.dtype }).expand([n, panels, PanelTags.width]);
    return cat([features, tags], 2);
  }
}
