/**
 * Multi-head attention (Vaswani et al., 2017) whose dropout draws from the step's own random numbers, and the
 * layers that systems build of it.
 */
import { nn, softmax, type Tensor } from '../../torch/index.js';
import { ConfigurationError } from '../errors.js';
import type { CreateOptions } from '../system.js';
import { mlp } from './mlp.js';
import { Dropout } from './step-random.js';

interface AttentionOptions extends CreateOptions {
  readonly bias?: boolean;
  /** Probability that an attention weight is dropped in training. */
  readonly dropout?: number;
}

/** Query [N, L, width], keys and values [N, K, width]; output [N, L, width]. */
export class Attention extends nn.Module {
  readonly queries: nn.Linear;
  readonly keys: nn.Linear;
  readonly values: nn.Linear;
  readonly out: nn.Linear;
  readonly dropout: Dropout;

  constructor(
    width: number,
    readonly heads: number,
    { dropout = 0, ...options }: AttentionOptions,
  ) {
    super();
    if (width % heads !== 0) {
      throw new ConfigurationError(
        `network: a width of ${width} cannot be shared equally by ${heads} heads`,
      );
    }
    const layer = (): nn.Linear => new nn.Linear(width, width, options);
    this.queries = layer();
    this.keys = layer();
    this.values = layer();
    this.out = layer();
    this.dropout = new Dropout(dropout, options);
  }

  /** `open` [N, K]: 0 at keys to ignore; at least one of each row is not. */
  forward(query: Tensor, key = query, value = key, open: Tensor | null = null): Tensor {
    const [n, length, width] = query.shape;
    const heads = (x: Tensor): Tensor =>
      x.reshape([n, x.shape[1], this.heads, width / this.heads]).transpose(1, 2); // [N, heads, *, size]
    const scale = Math.sqrt(this.heads / width);
    const scores = heads(this.queries.forward(query))
      .mul(scale)
      .matmul(heads(this.keys.forward(key)).transpose(2, 3)); // [N, heads, L, K]
    const allowed =
      open === null ? scores : scores.maskedFill(open.eq(0).unsqueeze(1).unsqueeze(1), -Infinity);
    const weights = softmax(allowed, -1);
    const kept = this.dropout.p > 0 ? this.dropout.forward(weights) : weights;
    const mixed = kept.matmul(heads(this.values.forward(value))); // [N, heads, L, size]
    return this.out.forward(mixed.transpose(1, 2).reshape([n, length, width]));
  }
}

interface BlockSizes {
  readonly width: number;
  readonly heads: number;
  /** Width of the hidden layer behind the attention. */
  readonly hidden: number;
  /** Of attention weights, and of what each of the two parts adds. */
  readonly dropout: number;
}

/** Attention among tokens [N, K, width], then a network of each; both read normalised tokens and add to them. */
export class AttentionBlock extends nn.Module {
  readonly attentionNorm: nn.LayerNorm;
  readonly attention: Attention;
  readonly hiddenNorm: nn.LayerNorm;
  readonly hidden: nn.Sequential;
  readonly dropout: Dropout;

  constructor({ width, heads, hidden, dropout }: BlockSizes, options: CreateOptions) {
    super();
    this.attentionNorm = new nn.LayerNorm(width);
    this.attention = new Attention(width, heads, { ...options, dropout });
    this.hiddenNorm = new nn.LayerNorm(width);
    this.hidden = mlp([width, hidden, width], options);
    this.dropout = new Dropout(dropout, options);
  }

  forward(x: Tensor, open: Tensor | null = null): Tensor {
    const tokens = this.attentionNorm.forward(x);
    const attended = x.add(this.#dropped(this.attention.forward(tokens, tokens, tokens, open)));
    return attended.add(this.#dropped(this.hidden.forward(this.hiddenNorm.forward(attended))));
  }

  #dropped(x: Tensor): Tensor {
    return this.dropout.p > 0 ? this.dropout.forward(x) : x;
  }
}
