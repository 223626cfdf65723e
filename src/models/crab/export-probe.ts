/**
 * Observes layers at work: the outputs (before activations) that networks have on generated problems
 * of their configuration, with panel 9 missing, others missing, and none. Runs on ONNX Runtime, one
 * concept at a time, so that libtorch is not needed and memory stays bounded.
 */
import {
  layoutOf,
  MATRIX_PANELS,
  Random,
  render64Into,
  samplePanels,
  SMALL_PIXELS,
} from '../../matrix/index.js';
import type * as Ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { CompactOptions } from './export-compact.js';
import { encoderGraph, reasonerGraph } from './export-graphs.js';
import type { CrabNetworks } from './export-networks.js';
import type { Samples } from './principal-components.js';

export type LayerSamples = Samples;

export interface ProbedLayer {
  readonly name: string;
  readonly samples: LayerSamples;
}

type ProbeOptions = Omit<CompactOptions, 'problems'> & { readonly problems: number };

const IMAGES_AT_ONCE = 36;
const PROBLEMS_AT_ONCE = 32;
/** Most observations kept of one layer. */
const MOST_ROWS = 1536;
const SEED = 7_200_000_007;

/** Loaded when first needed: training imports this layer too and has no use for it. */
const runtime = (): Promise<typeof Ort> => import('onnxruntime-node');

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
      const area = dims.slice(2).reduce((product, size) => product * size, 1);
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
function drawProblems({ configuration, noisy, problems }: ProbeOptions): Float32Array {
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
  const ort = await runtime();
  const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });
  try {
    return await use(session, (data, shape) => new ort.Tensor('float32', data, shape));
  } finally {
    await session.release();
  }
}

/** Runs the encoder on all panels; gives their concepts [problems * 9, M * d_z]. */
async function probeEncoder(
  networks: CrabNetworks,
  probed: ReadonlySet<string>,
  images: Float32Array,
  observations: Observations,
  signal?: AbortSignal,
): Promise<Float32Array> {
  const { concepts, conceptSize } = networks.config;
  const width = concepts * conceptSize;
  const count = images.length / SMALL_PIXELS;
  const rows = new Float32Array(count * width);
  const bytes = encoderGraph(networks, { format: 'f32', probed });
  await withSession(bytes, async (session, f32) => {
    for (let first = 0; first < count; first += IMAGES_AT_ONCE) {
      signal?.throwIfAborted();
      const n = Math.min(IMAGES_AT_ONCE, count - first);
      const data = images.slice(first * SMALL_PIXELS, (first + n) * SMALL_PIXELS);
      const results = await session.run({ images: f32(data, [n, 1, 64, 64]) });
      observations.add(results);
      rows.set(results.concepts.data as Float32Array, first * width);
    }
  });
  return rows;
}

/** Runs the reasoner of one concept, m, on all problems. */
async function probeConcept(
  networks: CrabNetworks,
  m: number,
  probed: ReadonlySet<string>,
  rows: Float32Array,
  masks: Float32Array,
  observations: Observations,
): Promise<void> {
  const { concepts, conceptSize: size, ruleSize } = networks.config;
  const alone: CrabNetworks = {
    ...networks,
    config: { ...networks.config, concepts: 1 },
    concepts: [networks.concepts[m]],
  };
  const count = masks.length / MATRIX_PANELS;
  await withSession(reasonerGraph(alone, { format: 'f32', probed }), async (session, f32) => {
    for (let first = 0; first < count; first += PROBLEMS_AT_ONCE) {
      const n = Math.min(PROBLEMS_AT_ONCE, count - first);
      const own = new Float32Array(n * MATRIX_PANELS * size);
      for (let i = 0; i < n * MATRIX_PANELS; i++) {
        const from = ((first * MATRIX_PANELS + i) * concepts + m) * size;
        own.set(rows.subarray(from, from + size), i * size);
      }
      const results = await session.run({
        concepts: f32(own, [n, MATRIX_PANELS, 1, size]),
        mask: f32(masks.slice(first * MATRIX_PANELS, (first + n) * MATRIX_PANELS), [
          n,
          MATRIX_PANELS,
        ]),
        rules: f32(new Float32Array(n * ruleSize), [n, 1, ruleSize]),
        use_rules: f32(new Float32Array(n), [n, 1]),
      });
      observations.add(results);
    }
  });
}

/** Outputs of the named layers, layer by layer. */
export async function* probeLayers(
  networks: CrabNetworks,
  names: ReadonlySet<string>,
  options: ProbeOptions,
): AsyncGenerator<ProbedLayer> {
  const images = drawProblems(options);
  const inEncoder = new Observations(
    Math.ceil((options.problems * MATRIX_PANELS) / IMAGES_AT_ONCE),
  );
  const rows = await probeEncoder(networks, names, images, inEncoder, options.signal);
  yield* inEncoder.layers();
  const masks = drawMasks(options.problems);
  for (let m = 0; m < networks.concepts.length; m++) {
    const prefix = `concept${m}.`;
    const own = [...names].filter((name) => name.startsWith(prefix));
    // The graph of a concept alone calls it concept 0.
    const probed = new Set(own.map((name) => `concept0.${name.slice(prefix.length)}`));
    const observations = new Observations(Math.ceil(options.problems / PROBLEMS_AT_ONCE));
    await probeConcept(networks, m, probed, rows, masks, observations);
    for (const { name, samples } of observations.layers()) {
      yield { name: prefix + name.slice('concept0.'.length), samples };
    }
  }
}
