/**
 * A run of a system with concepts as a solver: the same questions as to a bundle, answered by libtorch.
 * Its rules are parsed as the model parses them; rules of one's own cannot be imposed.
 */
import { ArgumentError } from '../base/index.js';
import { MATRIX_PANELS, SMALL_SIZE, type ImageSide } from '../matrix/index.js';
import type { SystemModel } from '../models/index.js';
import { bytesToPanel, SolverCore, toPanel } from '../solver/index.js';
import type {
  BundleManifest,
  BundleSizes,
  NamedPanel,
  Networks,
  Panel,
  Reasoning,
  ReasonerInput,
} from '../solver/index.js';
import { zeros } from '../torch/index.js';
import { IMAGES_AT_ONCE, inSlices, type AtOnce } from './torch-work.js';

const PROBLEMS_AT_ONCE: AtOnce = { cpu: 64, gpu: 1024 };

type ConceptModel = SystemModel &
  Required<Pick<SystemModel, 'conceptsOf' | 'predictConcepts' | 'paint'>>;

/** Whether a model has all that a solver asks for. */
export const hasConcepts = (model: SystemModel): model is ConceptModel =>
  (['conceptsOf', 'predictConcepts', 'paint'] as const).every((method) => method in model);

/** Pixels [S, S] of a panel in [0, 1]. */
function pixelsOf({ input, what }: NamedPanel, side: ImageSide): ArrayLike<number> {
  if (side === SMALL_SIZE) return toPanel(input);
  if (input instanceof Uint8Array && input.length === side ** 2) {
    return bytesToPanel(input);
  }
  if (input instanceof Float32Array && input.length === side ** 2) return input;
  throw new ArgumentError(`${what}: expected ${side}x${side} values`);
}

export class TorchNetworks implements Networks {
  readonly sizes: BundleSizes;

  constructor(
    readonly model: ConceptModel,
    readonly side: ImageSide,
  ) {
    const { device, dtype } = model.parameters()[0];
    const blank = zeros([1, MATRIX_PANELS, side, side], { device, dtype });
    const concepts = model.conceptsOf(blank); // [1, 9, M, d]
    const rules = model.rulesOf?.(concepts); // [1, M, d_r]
    const [, , count, conceptSize] = concepts.shape;
    this.sizes = { concepts: count, conceptSize, ruleSize: rules?.shape[2] ?? 0 };
    for (const each of [blank, concepts, rules]) each?.dispose();
  }

  encode(panels: readonly NamedPanel[], signal?: AbortSignal): Promise<Float32Array> {
    const { model, side } = this;
    const work: Parameters<typeof inSlices>[3] = (first, length, put) => {
      const pixels = new Float32Array(length * side ** 2);
      for (let i = 0; i < length; i++) pixels.set(pixelsOf(panels[first + i], side), i * side ** 2);
      return model.conceptsOf(put(pixels, [length, 1, side, side]));
    };
    return inSlices(model, panels.length, IMAGES_AT_ONCE, work, signal);
  }

  async decode(rows: Float32Array, signal?: AbortSignal): Promise<Panel[]> {
    const { model, side } = this;
    const { concepts: m, conceptSize } = this.sizes;
    const width = m * conceptSize;
    const count = rows.length / width;
    const work: Parameters<typeof inSlices>[3] = (first, length, put) => {
      const slice = rows.slice(first * width, (first + length) * width);
      return model.paint(put(slice, [length, 1, m, conceptSize]));
    };
    const pixels = await inSlices(model, count, IMAGES_AT_ONCE, work, signal);
    return Array.from({ length: count }, (_, i) =>
      pixels.slice(i * side ** 2, (i + 1) * side ** 2),
    );
  }

  async reason(input: ReasonerInput, signal?: AbortSignal): Promise<Reasoning> {
    const { model } = this;
    const { concepts: m, conceptSize, ruleSize } = this.sizes;
    const width = MATRIX_PANELS * m * conceptSize;
    const given = (first: number, length: number) => ({
      concepts: input.concepts.slice(first * width, (first + length) * width),
      context: input.mask
        .slice(first * MATRIX_PANELS, (first + length) * MATRIX_PANELS)
        .map((missing) => 1 - missing),
    });
    const ask = (
      answer: (
        concepts: Parameters<typeof model.paint>[0],
        context: typeof concepts,
      ) => typeof concepts,
    ): Promise<Float32Array> =>
      inSlices(
        model,
        input.count,
        PROBLEMS_AT_ONCE,
        (first, length, put) => {
          const { concepts, context } = given(first, length);
          return answer(
            put(concepts, [length, MATRIX_PANELS, m, conceptSize]),
            put(context, [length, MATRIX_PANELS]),
          );
        },
        signal,
      );
    const ruleMean =
      model.rulesOf === undefined || input.withoutRules
        ? new Float32Array(input.count * m * ruleSize)
        : await ask((concepts, context) => model.rulesOf?.(concepts, context) ?? concepts);
    const predicted = await ask((concepts, context) => model.predictConcepts(concepts, context));
    return { ruleMean, ruleDeviation: new Float32Array(ruleMean.length), predicted };
  }

  /** The model is its owner's to dispose. */
  dispose(): Promise<void> {
    return Promise.resolve();
  }
}

export class RunSolver extends SolverCore {
  /** A solver of a run's networks with what was found out about them so far. */
  static of(
    networks: TorchNetworks,
    manifest: BundleManifest,
    found: Partial<Pick<SolverCore, 'metrics' | 'ruleMap' | 'history' | 'vocabulary'>> = {},
  ): RunSolver {
    const { metrics = null, ruleMap = null, history = [], vocabulary = null } = found;
    const known = { metrics, ruleMap, history, vocabulary, imagined: null };
    return new RunSolver({ manifest, networks, backend: 'libtorch', ...known });
  }
}
