/**
 * Normal noise as a pure function of a step's key and a problem's place in the global batch, made of
 * ordinary tensor operations. The same numbers come out on every device and libtorch (up to rounding
 * of log, cos and sin), inside a captured CUDA graph, and in a process that holds only a part of the
 * batch; no generator state needs to be stored.
 *
 * Counter c of a step with key k is hashed by SplitMix64's finaliser (Steele, Lea and Flood, 2014);
 * the two halves of the 64 bits make two normal numbers (Box and Muller, 1958).
 */
import { keep, operator, scope, stack, type Device, type Tensor } from '../../torch/index.js';
import { deviceTensor } from '../tensors.js';
import { CounterRandom, STREAM } from './philox.js';

const GOLDEN_GAMMA = 0x9e3779b97f4a7c15n;
const MIX_1 = 0xbf58476d1ce4e5b9n;
const MIX_2 = 0x94d049bb133111ebn;
const TWO_POW_MINUS_32 = 2 ** -32;
/** Masks that make an arithmetic shift a logical one: the low 32, 33, 34 and 37 bits. */
const LOW_BITS = [32n, 33n, 34n, 37n].map((bits) => (1n << bits) - 1n);

const shiftRight = operator('bitwise_right_shift', 'Tensor_Scalar');
const and = operator('bitwise_and', 'Tensor');
const xorInPlace = operator('bitwise_xor_', 'Tensor');

/** The key of a step's noise: 64 random bits. */
export function noiseKey(seed: number, step: number): bigint {
  const random = new CounterRandom(seed, STREAM.noise, step);
  return BigInt.asIntN(64, (BigInt(random.uint32()) << 32n) | BigInt(random.uint32()));
}

/** The normal noise of one part of a batch: the same shape in every step, another key each time. */
export class NormalNoise {
  readonly #perProblem: number;
  readonly #problems: number;
  /** Hash input of each pair of numbers, before the key: i64 [problems, pairs]. */
  readonly #counters: Tensor;
  readonly #constants: Tensor;

  /** @param first place of the first problem in the global batch */
  constructor(first: number, problems: number, perProblem: number, device: Device) {
    this.#perProblem = perProblem;
    this.#problems = problems;
    const pairs = Math.ceil(perProblem / 2);
    const counters = BigInt64Array.from({ length: problems * pairs }, (_, n) =>
      BigInt.asIntN(64, BigInt(first * pairs + n) * GOLDEN_GAMMA),
    );
    this.#counters = keep(deviceTensor(counters, [problems, pairs], device));
    const constants = [MIX_1, MIX_2, ...LOW_BITS].map((value) => BigInt.asIntN(64, value));
    this.#constants = keep(deviceTensor(BigInt64Array.from(constants), [constants.length], device));
  }

  /** f32 [problems, perProblem], from the key in an i64 [1] tensor. */
  draw(key: Tensor): Tensor {
    return scope(() => {
      const [mix1, mix2, low32, low33, low34, low37] = this.#constants.unbind(0);
      const bits = this.#counters.add(key); // [problems, pairs]
      mixShift(bits, 30, low34).mul_(mix1);
      mixShift(bits, 27, low37).mul_(mix2);
      mixShift(bits, 31, low33);
      const high = and.tensor(shiftRight.tensor(bits, 32), low32).to({ dtype: 'f32' });
      const low = and.tensor(bits, low32).to({ dtype: 'f32' });
      // (0, 1], so that the logarithm is finite.
      const radius = high.add_(1).mul_(TWO_POW_MINUS_32).log().mul_(-2).sqrt();
      const angle = low.mul_(2 * Math.PI * TWO_POW_MINUS_32);
      const pair = stack([radius.mul(angle.cos()), radius.mul(angle.sin())], 2);
      return pair.reshape([this.#problems, -1]).narrow(1, 0, this.#perProblem);
    });
  }

  dispose(): void {
    this.#counters.dispose();
    this.#constants.dispose();
  }
}

/** bits ^= bits >>> by, in place; `mask` keeps the low 64 - by bits. */
function mixShift(bits: Tensor, by: number, mask: Tensor): Tensor {
  return xorInPlace.tensor(bits, and.tensor(shiftRight.tensor(bits, by), mask));
}
