/**
 * Observes layers at work: the outputs (before activations) that networks have on generated problems of
 * their configuration, with panel 9 missing, others missing, and none. Runs on ONNX Runtime, so that
 * libtorch is not needed.
 */
import { productOf } from '../../base/index.js';
import {
  layoutOf,
  MATRIX_PANELS,
  Random,
  render64Into,
  samplePanels,
  SMALL_PIXELS,
  type Configuration,
} from '../../matrix/index.js';
import type { InferenceSession, Tensor } from 'onnxruntime-common';
import { encoderGraph, type CoderNetworks, type CoderSizes } from './coder.js';
import type { ProbedLayer } from './compact.js';
import type { Samples } from './principal-components.js';

/** Problems that layers are observed on. */
export interface ProbedProblems {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  /** How many. */
  readonly problems?: number;
  readonly signal?: AbortSignal;
}

const DEFAULT_PROBLEMS = 384;
const IMAGES_AT_ONCE = 36;
const PROBLEMS_AT_ONCE = 32;
/** Most observations kept of one layer. */
const MOST_ROWS = 1536;
const SEED = 7_200_000_007;

type MakeTensor = (data: Float32Array, shape: readonly number[]) => Tensor;

/** Collects every n-th row of the values a layer has, up to a number of rows. */
class RowCollector {
  readonly #rows: Float32Array;
  #kept = 0;
  #seen = 0;
  readonly #every: number;

  constructor(
    readonly size: number,
    expectedRows: number,
  ) {
    const rows = Math.min(MOST_ROWS, expectedRows);
    this.#every = expectedRows / rows;
    this.#rows = new Float32Array(rows * size);
  }

  /** `stride` is the distance between values of one row: 1, or the area of a map of channels. */
  add(values: Float32Array, area: number): void {
    const groups = values.length / (this.size * area);
    for (let g = 0; g < groups; g++) {
      for (let place = 0; place < area; place++, this.#seen++) {
        const full = (this.#kept + 1) * this.size > this.#rows.length;
        if (full || this.#seen < Math.floor(this.#kept * this.#every)) continue;
        const from = g * this.size * area + place;
        for (let c = 0; c < this.size; c++) {
          this.#rows[this.#kept * this.size + c] = values[from + c * area];
        }
        this.#kept++;
      }
    }
  }

  samples(): Samples {
    return {
      count: this.#kept,
      size: this.size,
      values: this.#rows.subarray(0, this.#kept * this.size),
    };
  }
}

/** Gathers the probed outputs of the runs of one session. */
class Observations {
  readonly #collectors = new Map<string, RowCollector>();

  constructor(readonly runs: number) {}

  add(results: InferenceSession.OnnxValueMapType): void {
    for (const [key, value] of Object.entries(results)) {
      if (!key.startsWith('probe:')) continue;
      const name = key.slice('probe:'.length);
      const { data, dims } = value;
      const area = productOf(dims.slice(2));
      const collector =
        this.#collectors.get(name) ?? new RowCollector(dims[1], dims[0] * area * this.runs);
      this.#collectors.set(name, collector);
      collector.add(data as Float32Array, area);
    }
  }

  *layers(): Generator<ProbedLayer> {
    for (const [name, collector] of this.#collectors) {
      yield { name, samples: collector.samples() };
    }
  }
}

/** Panels of generated problems, f32 [problems * 9, 64 * 64]. */
function drawProblems({
  configuration,
  noisy,
  problems = DEFAULT_PROBLEMS,
}: ProbedProblems): Float32Array {
  const layout = layoutOf(configuration, noisy);
  const all = new Float32Array(problems * MATRIX_PANELS * SMALL_PIXELS);
  const image = new Uint8Array(SMALL_PIXELS);
  for (let index = 0; index < problems; index++) {
    samplePanels({ configuration, noisy, seed: SEED, index }).panels.forEach((panel, i) => {
      render64Into(layout, panel, image, 0);
      const at = (index * MATRIX_PANELS + i) * SMALL_PIXELS;
      for (let p = 0; p < SMALL_PIXELS; p++) all[at + p] = image[p] / 255;
    });
  }
  return all;
}

/** What is missing: nothing in a quarter of the problems, panel 9 in half, 1 to 3 others in the rest. */
function drawMasks(problems: number): Float32Array {
  const masks = new Float32Array(problems * MATRIX_PANELS);
  for (let n = 0; n < problems; n++) {
    const random = new Random(SEED, n, 5);
    const missing =
      n % 4 === 0
        ? []
        : n % 4 < 3
          ? [MATRIX_PANELS - 1]
          : random.subset(MATRIX_PANELS, random.between(1, 3));
    for (const position of missing) masks[n * MATRIX_PANELS + position] = 1;
  }
  return masks;
}

async function withSession<T>(
  bytes: Uint8Array,
  use: (session: InferenceSession, f32: MakeTensor) => Promise<T>,
): Promise<T> {
  // Loaded when first needed: training imports this layer too and has no use for it.
  const { nodeRuntime } = await import('../../solver/node.js');
  const { ort } = await nodeRuntime();
  const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });
  try {
    return await use(session, (data, shape) => new ort.Tensor('float32', data, shape));
  } finally {
    await session.release();
  }
}

/** Encoded problems: concepts [problems, 9, M * d_z], and a mask [problems, 9], 1 at missing panels. */
export interface EncodedProblems {
  readonly count: number;
  readonly rows: Float32Array;
  readonly masks: Float32Array;
}

/** Runs the encoder on all panels and gives the layers named there, then their concepts. */
export async function probeEncoder(
  networks: CoderNetworks,
  sizes: CoderSizes,
  probed: ReadonlySet<string>,
  options: ProbedProblems,
): Promise<{ readonly layers: Iterable<ProbedLayer>; readonly problems: EncodedProblems }> {
  const images = drawProblems(options);
  const width = sizes.concepts * sizes.conceptSize;
  const count = images.length / SMALL_PIXELS;
  const rows = new Float32Array(count * width);
  const observations = new Observations(Math.ceil(count / IMAGES_AT_ONCE));
  const bytes = encoderGraph(networks, sizes, { format: 'f32', probed });
  await withSession(bytes, async (session, f32) => {
    for (let first = 0; first < count; first += IMAGES_AT_ONCE) {
      options.signal?.throwIfAborted();
      const n = Math.min(IMAGES_AT_ONCE, count - first);
      const data = images.slice(first * SMALL_PIXELS, (first + n) * SMALL_PIXELS);
      const results = await session.run({ images: f32(data, [n, 1, 64, 64]) });
      observations.add(results);
      rows.set(results.concepts.data as Float32Array, first * width);
    }
  });
  const problems = count / MATRIX_PANELS;
  return {
    layers: observations.layers(),
    problems: { count: problems, rows, masks: drawMasks(problems) },
  };
}

/** Runs a reasoner on encoded problems; `feed` gives further inputs for n of them. */
export async function probeReasoner(
  bytes: Uint8Array,
  { count, rows, masks }: EncodedProblems,
  conceptShape: readonly number[],
  feed: (n: number) => Readonly<Record<string, { data: Float32Array; shape: readonly number[] }>>,
): Promise<Iterable<ProbedLayer>> {
  const observations = new Observations(Math.ceil(count / PROBLEMS_AT_ONCE));
  await withSession(bytes, async (session, f32) => {
    for (let first = 0; first < count; first += PROBLEMS_AT_ONCE) {
      const n = Math.min(PROBLEMS_AT_ONCE, count - first);
      const part = (all: Float32Array, shape: readonly number[]): Tensor => {
        const width = all.length / count;
        return f32(all.slice(first * width, (first + n) * width), [n, ...shape]);
      };
      const others = Object.entries(feed(n)).map(([name, { data, shape }]) => [
        name,
        f32(data, shape),
      ]);
      const results = await session.run({
        concepts: part(rows, [MATRIX_PANELS, ...conceptShape]),
        mask: part(masks, [MATRIX_PANELS]),
        ...(Object.fromEntries(others) as Record<string, Tensor>),
      });
      observations.add(results);
    }
  });
  return observations.layers();
}
