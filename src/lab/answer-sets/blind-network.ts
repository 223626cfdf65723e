/**
 * A small network that chooses among eight candidates without seeing the context: one hidden layer gives
 * each candidate a score from its own features, a softmax over the eight is trained with the right answer
 * (Adam). Plain TypeScript: it needs neither libtorch nor a GPU, and a seed repeats it exactly.
 */
import { indexOfLargest } from '../../base/index.js';
import { Random } from '../../matrix/index.js';
import { softmax } from '../../solver/index.js';

/** Features of the eight candidates, and which is right. */
export interface BlindProblem {
  readonly features: readonly (readonly number[])[];
  readonly target: number;
}

const [HIDDEN, EPOCHS, BATCH, RATE] = [24, 12, 32, 3e-3];
const [DECAY_1, DECAY_2, EPSILON] = [0.9, 0.999, 1e-8];
const TWO_32 = 2 ** 32;

/** Numbers that are learned, with Adam's memory of their gradients. */
class Weights {
  readonly gradient: Float64Array;
  readonly #first: Float64Array;
  readonly #second: Float64Array;

  constructor(readonly values: Float64Array) {
    this.gradient = new Float64Array(values.length);
    this.#first = new Float64Array(values.length);
    this.#second = new Float64Array(values.length);
  }

  update(rate: number, step: number): void {
    const correction = Math.sqrt(1 - DECAY_2 ** step) / (1 - DECAY_1 ** step);
    for (let i = 0; i < this.values.length; i++) {
      const gradient = this.gradient[i];
      this.#first[i] = DECAY_1 * this.#first[i] + (1 - DECAY_1) * gradient;
      this.#second[i] = DECAY_2 * this.#second[i] + (1 - DECAY_2) * gradient * gradient;
      const size = Math.sqrt(this.#second[i]) + EPSILON;
      this.values[i] -= (rate * correction * this.#first[i]) / size;
    }
    this.gradient.fill(0);
  }
}

export class BlindNetwork {
  readonly #inputs: number;
  /** [hidden, inputs + 1], the last of a row its bias. */
  readonly #layer: Weights;
  /** [hidden] */
  readonly #output: Weights;

  private constructor(inputs: number, random: Random) {
    this.#inputs = inputs;
    const drawn = (count: number, scale: number): Weights =>
      new Weights(
        Float64Array.from({ length: count }, () => scale * (2 * (random.next() / TWO_32) - 1)),
      );
    this.#layer = drawn(HIDDEN * (inputs + 1), 1 / Math.sqrt(inputs));
    this.#output = drawn(HIDDEN, 1 / Math.sqrt(HIDDEN));
  }

  /** Trains a network on problems. */
  static train(problems: readonly BlindProblem[], seed: number): BlindNetwork {
    const random = new Random(seed);
    const network = new BlindNetwork(problems[0].features[0].length, random);
    let step = 0;
    for (let epoch = 0; epoch < EPOCHS; epoch++) {
      const order = random.subset(problems.length, problems.length);
      for (let first = 0; first < order.length; first += BATCH) {
        const batch = order.slice(first, first + BATCH);
        for (const index of batch) network.#learn(problems[index], 1 / batch.length);
        step += 1;
        network.#layer.update(RATE, step);
        network.#output.update(RATE, step);
      }
    }
    return network;
  }

  #activations(features: readonly number[]): Float64Array {
    const { values } = this.#layer;
    const out = new Float64Array(HIDDEN);
    for (let h = 0; h < HIDDEN; h++) {
      const row = h * (this.#inputs + 1);
      let sum = values[row + this.#inputs];
      for (let i = 0; i < this.#inputs; i++) sum += values[row + i] * features[i];
      out[h] = Math.max(0, sum);
    }
    return out;
  }

  #score(active: Float64Array): number {
    return active.reduce((sum, value, h) => sum + value * this.#output.values[h], 0);
  }

  /** Adds the gradients of the cross-entropy of one problem. */
  #learn({ features, target }: BlindProblem, weight: number): void {
    const active = features.map((each) => this.#activations(each));
    const scores = active.map((each) => this.#score(each));
    const probabilities = softmax(
      scores.map((score) => -score),
      1,
    );
    features.forEach((own, c) => {
      const slope = weight * (probabilities[c] - (c === target ? 1 : 0));
      for (let h = 0; h < HIDDEN; h++) {
        this.#output.gradient[h] += slope * active[c][h];
        if (active[c][h] === 0) continue;
        const back = slope * this.#output.values[h];
        const row = h * (this.#inputs + 1);
        for (let i = 0; i < this.#inputs; i++) this.#layer.gradient[row + i] += back * own[i];
        this.#layer.gradient[row + this.#inputs] += back;
      }
    });
  }

  /** The candidate it would choose. */
  choose(features: readonly (readonly number[])[]): number {
    const scores = features.map((each) => this.#score(this.#activations(each)));
    return indexOfLargest(scores);
  }
}
