/**
 * Random numbers of a training step as a pure function of the step's key and a problem's place in the whole
 * batch, made of ordinary tensor operations. The same numbers come out on every device and libtorch (up to
 * rounding of log, cos and sin), inside a captured CUDA graph, and in a process that holds only a part of
 * the batch; no generator state needs to be stored.
 *
 * Counter c of a step with key k is hashed by SplitMix64's finaliser (Steele, Lea and Flood, 2014);
 * the two halves of the 64 bits make two normal numbers (Box and Muller, 1958) or two uniform ones.
 */
import { CounterRandom, STREAM } from '../../base/index.js';
import { keep, nn, noGrad, operator, scope, stack, tensor } from '../../torch/index.js';
import type { Device, Tensor } from '../../torch/index.js';
import { ModelError } from '../errors.js';
import type { BatchPart } from '../system.js';

const GOLDEN_GAMMA = 0x9e3779b97f4a7c15n;
const MIX_1 = 0xbf58476d1ce4e5b9n;
const MIX_2 = 0x94d049bb133111ebn;
const TWO_POW_MINUS_32 = 2 ** -32;
/** Masks that make an arithmetic shift a logical one: the low 32, 33, 34 and 37 bits. */
const LOW_BITS = [32n, 33n, 34n, 37n].map((bits) => (1n << bits) - 1n);
/** Counters between two draws of one step: more than any draw uses. */
const DRAW_STRIDE = 1n << 44n;

const shiftRight = operator('bitwise_right_shift', 'Tensor_Scalar');
const and = operator('bitwise_and', 'Tensor');
const xorInPlace = operator('bitwise_xor_', 'Tensor');

/** The key of a step's random numbers: 64 random bits. */
export function stepKey(seed: number, step: number): bigint {
  const random = new CounterRandom(seed, STREAM.noise, step);
  return BigInt.asIntN(64, (BigInt(random.uint32()) << 32n) | BigInt(random.uint32()));
}

/** The random numbers of one part of a batch. */
export class StepRandom {
  #key: Tensor | null = null;
  readonly #part: BatchPart;
  readonly #device: Device;
  readonly #constants: Tensor;
  /** Hash inputs of each draw of a step, before the key: i64 [problems, pairs]. */
  readonly #counters: Tensor[] = [];
  #draws = 0;

  constructor(part: BatchPart, device: Device) {
    this.#part = part;
    this.#device = device;
    const constants = [MIX_1, MIX_2, ...LOW_BITS].map((value) => BigInt.asIntN(64, value));
    this.#constants = this.#held(BigInt64Array.from(constants), [constants.length]);
  }

  /** To be called before the computation of a step, whose key is in `key`, i64 [1]. */
  begin(key: Tensor): void {
    this.#key = key;
    this.#draws = 0;
  }

  /** Standard normal numbers, f32 [problems, perProblem]. */
  normal(perProblem: number): Tensor {
    return this.#draw(perProblem, (high, low) => {
      // (0, 1], so that the logarithm is finite.
      const radius = high.add_(1).mul_(TWO_POW_MINUS_32).log().mul_(-2).sqrt();
      const angle = low.mul_(2 * Math.PI * TWO_POW_MINUS_32);
      return [radius.mul(angle.cos()), radius.mul(angle.sin())];
    });
  }

  /** Uniform numbers in [0, 1], f32, in the shape of `x`, whose rows are problems or equally many of each. */
  uniformLike(x: Tensor): Tensor {
    const uniform = (bits: Tensor): Tensor => bits.mul_(TWO_POW_MINUS_32);
    return this.#draw(x.numel / this.#part.count, (high, low) => [
      uniform(high),
      uniform(low),
    ]).reshape(x.shape);
  }

  #draw(perProblem: number, spread: (high: Tensor, low: Tensor) => Tensor[]): Tensor {
    const key = this.#key;
    if (key === null)
      throw new ModelError('random numbers of a step were asked for outside of one');
    const counters = this.#countersOf(this.#draws++, Math.ceil(perProblem / 2));
    return noGrad(() =>
      scope(() => {
        const [mix1, mix2, low32, low33, low34, low37] = this.#constants.unbind(0);
        const bits = counters.add(key); // [problems, pairs]
        mixShift(bits, 30, low34).mul_(mix1);
        mixShift(bits, 27, low37).mul_(mix2);
        mixShift(bits, 31, low33);
        const high = and.tensor(shiftRight.tensor(bits, 32), low32).to({ dtype: 'f32' });
        const low = and.tensor(bits, low32).to({ dtype: 'f32' });
        const pair = stack(spread(high, low), 2); // [problems, pairs, 2]
        return pair.reshape([this.#part.count, -1]).narrow(1, 0, perProblem);
      }),
    );
  }

  /** Made at a draw's first use, before any step is captured as a graph. */
  #countersOf(draw: number, pairs: number): Tensor {
    const { first, count } = this.#part;
    const start = BigInt(draw) * DRAW_STRIDE + BigInt(first * pairs);
    this.#counters[draw] ??= this.#held(
      BigInt64Array.from({ length: count * pairs }, (_, n) =>
        BigInt.asIntN(64, (start + BigInt(n)) * GOLDEN_GAMMA),
      ),
      [count, pairs],
    );
    return this.#counters[draw];
  }

  #held(values: BigInt64Array, shape: number[]): Tensor {
    return scope(() => keep(tensor(values, { shape }).to({ device: this.#device })));
  }

  dispose(): void {
    for (const held of [this.#constants, ...this.#counters]) held.dispose();
  }
}

/** bits ^= bits >>> by, in place; `mask` keeps the low 64 - by bits. */
function mixShift(bits: Tensor, by: number, mask: Tensor): Tensor {
  return xorInPlace.tensor(bits, and.tensor(shiftRight.tensor(bits, by), mask));
}

/** In training, zeroes each value with probability `p` and scales the others up to keep the mean. */
export class Dropout extends nn.Module {
  readonly #random: StepRandom | undefined;

  constructor(
    readonly p: number,
    { random }: { readonly random?: StepRandom },
  ) {
    super();
    this.#random = random;
  }

  forward(x: Tensor): Tensor {
    if (!this.training || this.#random === undefined) return x;
    const kept = this.#random.uniformLike(x).ge(this.p);
    return x.mul(kept.to({ dtype: x.dtype }).div_(1 - this.p));
  }
}
