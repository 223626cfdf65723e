/**
 * Judges a model on fixed problems: selection accuracy (SA) on the candidates of both variants, panel 9
 * missing, and, of a system that answers for any panel, in-batch global selection accuracy (GSA): one panel
 * missing anywhere, panels of other problems as candidates. All it asks of a model is `score`. Several ranks
 * share the work slice by slice and all come to the same numbers as one process.
 */
import { CANDIDATES, MATRIX_PANELS, PAPER_VARIANTS, SMALL_SIZE } from '../../matrix/index.js';
import type { Missing, System, SystemModel } from '../../models/index.js';
import { keep, noGrad, scope, tensor, type Device, type Tensor } from '../../torch/index.js';
import type { Judgement } from '../loop.js';
import { SOLO, type Team } from '../parallel/team.js';
import { drawInBatchChoice } from './problems.js';
import type { InBatchChoice, ValidationProblems } from './problems.js';

/** Problems judged at a time on a CPU, if their pictures are of 64x64; of larger ones fewer. Bounds the memory. */
const CPU_SLICE = 64;
/** On a GPU more: there the host is what takes the time. */
const GPU_SLICE = 256;
const sliceOf = (device: Device, side: number): number =>
  device === 'cpu' ? Math.max(1, Math.floor((CPU_SLICE * SMALL_SIZE ** 2) / side ** 2)) : GPU_SLICE;
const LAST = MATRIX_PANELS - 1;

/** One choice for every problem: which panels are missing, and the candidates as rows of all pictures. */
interface Choice {
  readonly missing: Missing;
  /** Rows of `pictures`, [count, candidates]. */
  readonly offered: Int32Array;
  readonly pictures: Tensor;
  readonly answers: Int32Array;
}

export class Validator {
  /** u8 [count * 9, S, S] */
  readonly #panels: Tensor;
  readonly #variants: readonly Tensor[];
  readonly #choices: readonly Choice[];
  readonly #problems: ValidationProblems;
  readonly #device: Device;

  constructor(problems: ValidationProblems, positions: System['positions'], device: Device) {
    const { count, imageSize, answers } = problems;
    const pictures = (bytes: Uint8Array): Tensor =>
      keep(tensor(bytes, { shape: [bytes.length / imageSize ** 2, imageSize, imageSize], device }));
    this.#problems = problems;
    this.#device = device;
    this.#panels = pictures(problems.panels);
    this.#variants = PAPER_VARIANTS.map((variant) => pictures(problems.candidates[variant]));
    const own = Int32Array.from({ length: count * CANDIDATES }, (_, row) => row);
    const missing = Array.from({ length: count }, () => [LAST]);
    const given = this.#variants.map((each) => ({
      missing,
      offered: own,
      pictures: each,
      answers,
    }));
    const inBatch = positions === 'any' ? [inBatchChoice(problems, this.#panels)] : [];
    this.#choices = [...given, ...inBatch];
  }

  /** Accuracies of a model, which is in use mode meanwhile. Other work gets its turn in between. */
  async judge(model: SystemModel, team: Team = SOLO): Promise<Judgement> {
    const { count, imageSize } = this.#problems;
    const chosen = this.#choices.map(() => new Array<number>(count).fill(0));
    const slice = sliceOf(this.#device, imageSize);
    model.eval();
    try {
      for (let first = 0; first < count; first += slice) {
        await new Promise(setImmediate);
        // What other ranks judge stays 0 here; the sum over the ranks is what each slice's rank found.
        if ((first / slice) % team.size !== team.rank) continue;
        const length = Math.min(slice, count - first);
        this.#choices.forEach((choice, c) => {
          const found = noGrad(() => scope(() => this.#choose(model, choice, first, length)));
          found.forEach((index, n) => (chosen[c][first + n] = index));
        });
      }
    } finally {
      model.train();
    }
    const accuracies = this.#choices.map(({ answers }, c) => {
      const right = summed(chosen[c], team, this.#device).filter((at, n) => at === answers[n]);
      return right.length / count;
    });
    return {
      selectionAccuracy: Object.fromEntries(
        PAPER_VARIANTS.map((variant, v) => [variant, accuracies[v]]),
      ),
      globalSelectionAccuracy: accuracies.at(PAPER_VARIANTS.length) ?? null,
    };
  }

  /** The chosen candidates of problems first .. first + length - 1, by index. */
  #choose(model: SystemModel, choice: Choice, first: number, length: number): number[] {
    const { imageSize: side, count } = this.#problems;
    const perProblem = choice.offered.length / count;
    const dtype = model.parameters()[0].dtype;
    const panels = this.#panels.narrow(0, first * MATRIX_PANELS, length * MATRIX_PANELS);
    const rows = choice.offered.subarray(first * perProblem, (first + length) * perProblem);
    const index = tensor(BigInt64Array.from(rows, BigInt), { device: this.#device });
    const pixels = (bytes: Tensor, shape: number[]): Tensor =>
      bytes.to({ dtype }).div_(255).reshape(shape);
    return model
      .score(
        pixels(panels, [length, MATRIX_PANELS, side, side]),
        choice.missing.slice(first, first + length),
        pixels(choice.pictures.indexSelect(0, index), [length, perProblem, 1, side, side]),
      )
      .argmax(1)
      .toArray();
  }

  dispose(): void {
    for (const held of [this.#panels, ...this.#variants]) held.dispose();
  }
}

/** The choice among panels of other problems at the same position. */
function inBatchChoice({ source, count }: ValidationProblems, pictures: Tensor): Choice {
  const { targets, offered, answers }: InBatchChoice = drawInBatchChoice(source.seed, count);
  const perProblem = offered.length / count;
  return {
    missing: Array.from(targets, (target) => [target]),
    offered: offered.map(
      (problem, i) => problem * MATRIX_PANELS + targets[Math.floor(i / perProblem)],
    ),
    pictures,
    answers,
  };
}

/** The ranks' numbers added up. */
const summed = (own: readonly number[], team: Team, device: Device): readonly number[] =>
  team.size === 1
    ? own
    : scope(() => team.sum_(tensor([...own], { dtype: 'f64', device })).toArray());
