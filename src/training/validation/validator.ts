/**
 * Judges a model on fixed problems: selection accuracy (SA) on the candidates of both variants, panel
 * 9 missing, and in-batch global selection accuracy (GSA), one panel missing anywhere, which needs no
 * candidates. Rules are means; the closest candidate by L2 distance of concept means is chosen. Several
 * ranks share the work slice by slice and all come to the same numbers as one process.
 */
import { conceptDistances, predictConcepts, type CrabModel } from '../../models/index.js';
import { CANDIDATES, MATRIX_PANELS, VARIANTS } from '../../matrix/index.js';
import { cat, keep, noGrad, scope, tensor, zeros } from '../../torch/index.js';
import type { Device, DType, Tensor } from '../../torch/index.js';
import type { Judgement } from '../loop.js';
import { SOLO, type Team } from '../parallel/team.js';
import { deviceTensor, dtypeOf } from '../tensors.js';
import { drawInBatchChoice, type InBatchChoice, type ValidationProblems } from './problems.js';

/** Problems judged at a time; bounds the memory. */
const SLICE = 64;
const LAST = MATRIX_PANELS - 1;

const toPixels = (bytes: Tensor, dtype: DType): Tensor => bytes.to({ dtype }).div_(255);

const accuracy = (chosen: readonly number[], answers: Int32Array): number =>
  chosen.filter((choice, n) => choice === answers[n]).length / answers.length;

/** What one slice of problems contributes. */
interface SliceResult {
  /** Encoded means, [M, n, 9, d_z]. */
  readonly means: Tensor;
  /** Predicted means of the panel missing for the in-batch choice, [M, n, d_z]. */
  readonly predicted: Tensor;
}

export class Validator {
  /** u8 [count, 9, 64, 64] */
  readonly #panels: Tensor;
  /** For each variant u8 [count, 8, 64, 64]. */
  readonly #candidates: readonly Tensor[];
  readonly #problems: ValidationProblems;
  readonly #choice: InBatchChoice;
  readonly #device: Device;

  constructor(problems: ValidationProblems, device: Device) {
    const { count } = problems;
    this.#problems = problems;
    this.#device = device;
    this.#panels = keep(deviceTensor(problems.panels, [count, MATRIX_PANELS, 64, 64], device));
    this.#candidates = VARIANTS.map((variant) =>
      keep(deviceTensor(problems.candidates[variant], [count, CANDIDATES, 64, 64], device)),
    );
    this.#choice = drawInBatchChoice(problems.source.seed, count);
  }

  /** Accuracies of a model, which is in use mode meanwhile. Other work gets its turn in between. */
  async judge(model: CrabModel, team: Team = SOLO): Promise<Judgement> {
    const { count, answers } = this.#problems;
    const chosen = VARIANTS.map((): number[] => []);
    const slices: SliceResult[] = [];
    model.eval();
    try {
      for (let first = 0; first < count; first += SLICE) {
        await new Promise(setImmediate);
        const length = Math.min(SLICE, count - first);
        const own = (first / SLICE) % team.size === team.rank;
        slices.push(
          own
            ? noGrad(() => scope(() => this.#judgeSlice(model, first, length, chosen)))
            : this.#emptySlice(model, length, chosen),
        );
      }
      const inBatch = noGrad(() => scope(() => this.#chooseInBatch(slices, team)));
      const all = chosen.map((choices) => summed(choices, team, this.#device));
      const shares = VARIANTS.map((variant, v) => [variant, accuracy(all[v], answers)]);
      return {
        selectionAccuracy: Object.fromEntries(shares) as Record<string, number>,
        globalSelectionAccuracy: accuracy(inBatch, this.#choice.answers),
      };
    } finally {
      model.train();
      for (const { means, predicted } of slices) {
        means.dispose();
        predicted.dispose();
      }
    }
  }

  /** What another rank fills in: sums over the ranks are then what each slice's rank found. */
  #emptySlice(model: CrabModel, length: number, chosen: number[][]): SliceResult {
    const { concepts, conceptSize } = model.config;
    const placed = { device: this.#device, dtype: dtypeOf(model) };
    for (const choices of chosen) choices.push(...new Array<number>(length).fill(0));
    return {
      means: zeros([concepts, length, MATRIX_PANELS, conceptSize], placed),
      predicted: zeros([concepts, length, conceptSize], placed),
    };
  }

  #judgeSlice(model: CrabModel, first: number, length: number, chosen: number[][]): SliceResult {
    const dtype = dtypeOf(model);
    const means = model.encode(toPixels(this.#panels.narrow(0, first, length), dtype));
    const { predicted } = predictConcepts(model, means, this.#contexts(first, length));
    const answer = predicted.select(1, 0).select(2, LAST); // [M, n, d_z]
    this.#candidates.forEach((images, v) => {
      const candidates = model.encode(toPixels(images.narrow(0, first, length), dtype)); // [M, n, 8, d_z]
      chosen[v].push(...closest(answer, candidates));
    });
    const targets = this.#indices(this.#choice.targets.subarray(first, first + length));
    const [m, n, , size] = means.shape;
    const places = targets.reshape([1, n, 1, 1]).expand([m, n, 1, size]);
    const missing = predicted.select(1, 1).gather(2, places).squeeze(2); // [M, n, d_z]
    return { means, predicted: missing };
  }

  /** Panel 9 missing, then the panel of the in-batch choice missing: f32 [2, n, 9], 0 where missing. */
  #contexts(first: number, length: number): Tensor {
    const host = new Float32Array(2 * length * MATRIX_PANELS).fill(1);
    for (let n = 0; n < length; n++) {
      host[n * MATRIX_PANELS + LAST] = 0;
      host[(length + n) * MATRIX_PANELS + this.#choice.targets[first + n]] = 0;
    }
    return deviceTensor(host, [2, length, MATRIX_PANELS], this.#device);
  }

  #indices(values: Int32Array): Tensor {
    return deviceTensor(BigInt64Array.from(values, BigInt), [values.length], this.#device);
  }

  #chooseInBatch(slices: readonly SliceResult[], team: Team): number[] {
    const joined = (choose: (slice: SliceResult) => Tensor): Tensor =>
      team.sum_(cat(slices.map(choose), 1));
    const means = joined((slice) => slice.means); // [M, count, 9, d_z]
    const predicted = joined((slice) => slice.predicted); // [M, count, d_z]
    const [m, count, , size] = means.shape;
    const { offered, targets } = this.#choice;
    const perProblem = offered.length / count;
    const rows = offered.map(
      (problem, i) => problem * MATRIX_PANELS + targets[Math.floor(i / perProblem)],
    );
    const candidates = means
      .reshape([m, count * MATRIX_PANELS, size])
      .indexSelect(1, this.#indices(rows))
      .reshape([m, count, perProblem, size]);
    return closest(predicted, candidates);
  }

  dispose(): void {
    for (const held of [this.#panels, ...this.#candidates]) held.dispose();
  }
}

/** The ranks' numbers added up. */
const summed = (own: readonly number[], team: Team, device: Device): number[] =>
  team.size === 1
    ? [...own]
    : scope(() => team.sum_(tensor([...own], { dtype: 'f64', device })).toArray());

/** The closest of candidates [M, n, C, d_z] to predictions [M, n, d_z], for each problem. */
const closest = (predicted: Tensor, candidates: Tensor): number[] =>
  conceptDistances(predicted, candidates).sum(2).argmin(1).toArray();
