/** The three networks of a bundle on a backend, fed in slices that bound memory and can be aborted. */
import { productOf } from '../base/index.js';
import { MATRIX_PANELS, SMALL_PIXELS } from '../matrix/index.js';
import type { Backend, ExpectedShape, Network, Signature, Tensor } from './backend.js';
import type { BundleFileName, BundleSizes } from './bundle.js';
import { BundleError } from './errors.js';
import { writePanel, type Panel, type PanelInput } from './panels.js';

/** More at once is not faster, only longer to wait for when work is cancelled. */
const IMAGES_AT_ONCE = 32;
const PROBLEMS_AT_ONCE = 16;
/** A reasoner up to this size is many small products: waking a second thread costs more than it gives. */
const SMALL_REASONER = 32 << 20;

/** A panel to be encoded, and how errors call it. */
export interface NamedPanel {
  readonly input: PanelInput;
  readonly what: string;
}

export interface ReasonerInput {
  readonly count: number;
  /** [N, 9, M, d_z] */
  readonly concepts: Float32Array;
  /** 1 at missing panels, [N, 9]. */
  readonly mask: Float32Array;
  /** [N, M, d_r] */
  readonly rules: Float32Array;
  /** 1 if that rule is to be used, [N, M]. */
  readonly useRules: Float32Array;
  /** Nobody looks at the rules that are parsed: networks that can spare the work leave them zero. */
  readonly withoutRules?: boolean;
}

export interface Reasoning {
  /** [N, M, d_r] */
  readonly ruleMean: Float32Array;
  readonly ruleDeviation: Float32Array;
  /** [N, 9, M, d_z] */
  readonly predicted: Float32Array;
}

export interface Networks {
  /** Concept means [n, M * d_z] of panels, which are converted slice by slice. */
  encode(panels: readonly NamedPanel[], signal?: AbortSignal): Promise<Float32Array>;
  /** Panels of concept means [n, M * d_z]. */
  decode(rows: Float32Array, signal?: AbortSignal): Promise<Panel[]>;
  reason(input: ReasonerInput, signal?: AbortSignal): Promise<Reasoning>;
  dispose(): Promise<void>;
}

const PARTS = ['encoder', 'reasoner', 'decoder'] as const;
type Part = (typeof PARTS)[number];

function signatures({
  concepts,
  conceptSize,
  ruleSize,
}: BundleSizes): Readonly<Record<Part, Signature>> {
  const images: ExpectedShape = [null, 1, 64, 64];
  const means: ExpectedShape = [null, concepts, conceptSize];
  const nine: ExpectedShape = [null, MATRIX_PANELS, concepts, conceptSize];
  const rules: ExpectedShape = [null, concepts, ruleSize];
  const told: Signature['outputs'] =
    ruleSize > 0 ? { rule_mean: rules, rule_deviation: rules } : {};
  const imposed: Signature['inputs'] = ruleSize > 0 ? { rules, use_rules: [null, concepts] } : {};
  return {
    encoder: { inputs: { images }, outputs: { concepts: means } },
    decoder: { inputs: { concepts: means }, outputs: { images } },
    reasoner: {
      inputs: { concepts: nine, mask: [null, MATRIX_PANELS], ...imposed },
      outputs: { ...told, predicted: nine },
    },
  };
}

/** Loads all three, or none. */
export async function loadNetworks(
  files: ReadonlyMap<BundleFileName, Uint8Array>,
  sizes: BundleSizes,
  backend: Backend,
): Promise<Networks> {
  const expected = signatures(sizes);
  const load = (part: Part): Promise<Network> => {
    const name = `${part}.onnx` as const;
    const bytes = files.get(name);
    if (bytes === undefined) throw new BundleError(`there is no ${name}`);
    const oneThread = part === 'reasoner' && bytes.length <= SMALL_REASONER;
    return backend.load(name, bytes, expected[part], { oneThread });
  };
  const loaded: Network[] = [];
  try {
    for (const part of PARTS) loaded.push(await load(part));
  } catch (error) {
    await Promise.all(loaded.map((network) => network.dispose()));
    throw error;
  }
  return new SlicedNetworks(sizes, loaded[0], loaded[1], loaded[2]);
}

class SlicedNetworks implements Networks {
  constructor(
    readonly sizes: BundleSizes,
    readonly encoder: Network,
    readonly reasoner: Network,
    readonly decoder: Network,
  ) {}

  get #width(): number {
    return this.sizes.concepts * this.sizes.conceptSize;
  }

  async encode(panels: readonly NamedPanel[], signal?: AbortSignal): Promise<Float32Array> {
    const rows = new Float32Array(panels.length * this.#width);
    for (let first = 0; first < panels.length; first += IMAGES_AT_ONCE) {
      signal?.throwIfAborted();
      const slice = panels.slice(first, first + IMAGES_AT_ONCE);
      const data = new Float32Array(slice.length * SMALL_PIXELS);
      slice.forEach(({ input, what }, i) => {
        writePanel(input, data.subarray(i * SMALL_PIXELS, (i + 1) * SMALL_PIXELS), what);
      });
      const images = { data, shape: [slice.length, 1, 64, 64] };
      const { concepts } = await this.encoder.run({ images });
      rows.set(concepts.data, first * this.#width);
    }
    return rows;
  }

  async decode(rows: Float32Array, signal?: AbortSignal): Promise<Panel[]> {
    const { concepts: m, conceptSize } = this.sizes;
    const count = rows.length / this.#width;
    const panels: Panel[] = [];
    for (let first = 0; first < count; first += IMAGES_AT_ONCE) {
      signal?.throwIfAborted();
      const n = Math.min(IMAGES_AT_ONCE, count - first);
      const data = rows.slice(first * this.#width, (first + n) * this.#width);
      const { images } = await this.decoder.run({ concepts: { data, shape: [n, m, conceptSize] } });
      for (let i = 0; i < n; i++) {
        const panel = images.data.slice(i * SMALL_PIXELS, (i + 1) * SMALL_PIXELS);
        // Rounding can lead a hair beyond black and white, which `encode` would refuse.
        panels.push(panel.map((value) => Math.min(1, Math.max(0, value))));
      }
    }
    return panels;
  }

  async reason(input: ReasonerInput, signal?: AbortSignal): Promise<Reasoning> {
    const { concepts: m, conceptSize, ruleSize } = this.sizes;
    const { count } = input;
    const ruleMean = new Float32Array(count * m * ruleSize);
    const ruleDeviation = new Float32Array(ruleMean.length);
    const predicted = new Float32Array(count * MATRIX_PANELS * this.#width);
    for (let first = 0; first < count; first += PROBLEMS_AT_ONCE) {
      signal?.throwIfAborted();
      const n = Math.min(PROBLEMS_AT_ONCE, count - first);
      const part = (all: Float32Array, shape: readonly number[]): Tensor => {
        const width = productOf(shape);
        return { data: all.slice(first * width, (first + n) * width), shape: [n, ...shape] };
      };
      const results = await this.reasoner.run({
        concepts: part(input.concepts, [MATRIX_PANELS, m, conceptSize]),
        mask: part(input.mask, [MATRIX_PANELS]),
        ...(ruleSize > 0 && {
          rules: part(input.rules, [m, ruleSize]),
          use_rules: part(input.useRules, [m]),
        }),
      });
      predicted.set(results.predicted.data, first * MATRIX_PANELS * this.#width);
      if (ruleSize === 0) continue;
      ruleMean.set(results.rule_mean.data, first * m * ruleSize);
      ruleDeviation.set(results.rule_deviation.data, first * m * ruleSize);
    }
    return { ruleMean, ruleDeviation, predicted };
  }

  async dispose(): Promise<void> {
    for (const network of [this.encoder, this.reasoner, this.decoder]) await network.dispose();
  }
}
