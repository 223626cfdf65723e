/**
 * The ranks that train one run together. Each holds the whole model and a part of every batch; what one
 * step needs of the others (gradients, statistics, posteriors) and what they must decide as one (when to
 * stop, how long the run is) goes through here. A run of one process has a team of one, which asks nobody.
 */
import { ArgumentError } from '../../base/index.js';
import {
  GradientReducer,
  nn,
  noGrad,
  scope,
  tensor,
  zeros,
  type Device,
  type ProcessGroup,
  type Tensor,
} from '../../torch/index.js';
import type { BatchPart } from '../../models/index.js';

/** Averages gradients; to be told before every backward pass. */
export interface Reduction {
  begin(): void;
  dispose(): void;
}

export interface Team {
  readonly rank: number;
  readonly size: number;
  /** Whether this rank writes files and reports. */
  readonly leads: boolean;
  /** This rank's part of a global batch. */
  partOf(batchSize: number): BatchPart;
  /** All ranks' tensors side by side along a dimension, with gradients. */
  gather(own: Tensor, dim: number): Tensor;
  /** Replaces a tensor by the mean over the ranks. */
  average_(own: Tensor): Tensor;
  /** Replaces a tensor by the sum over the ranks. */
  sum_(own: Tensor): Tensor;
  /** Lets gradients be averaged while a backward pass runs; null if there is nothing to average. */
  reduction(parameters: readonly Tensor[]): Reduction | null;
  /** Lets batch normalisations use the statistics of the whole batch. */
  synchronise(model: nn.Module): void;
  /** Whether any rank says so. */
  anyOf(own: boolean): boolean;
  /** The first rank's number. */
  firstOf(own: number): number;
  /** The first rank's bytes, on every rank; others give null. */
  share(own: Uint8Array | null): Uint8Array;
  /** The first rank's tensor, in place. */
  share_(own: Tensor): Tensor;
  /** Resolves when all ranks have come this far. */
  barrier(): Promise<void>;
}

/** A team of one. */
export const SOLO: Team = {
  rank: 0,
  size: 1,
  leads: true,
  partOf: (batchSize) => ({ first: 0, count: batchSize }),
  gather: (own) => own,
  average_: (own) => own,
  sum_: (own) => own,
  reduction: () => null,
  synchronise: () => {},
  anyOf: (own) => own,
  firstOf: (own) => own,
  share: (own) => own ?? new Uint8Array(0),
  share_: (own) => own,
  barrier: () => Promise.resolve(),
};

/** Ranks in processes of their own. */
export class ProcessTeam implements Team {
  readonly rank: number;
  readonly size: number;
  readonly leads: boolean;

  /** @param device where small values travel from: one that the group's backend serves */
  constructor(
    readonly group: ProcessGroup,
    readonly device: Device,
  ) {
    this.rank = group.rank;
    this.size = group.size;
    this.leads = group.rank === 0;
  }

  partOf(batchSize: number): BatchPart {
    const count = batchSize / this.size;
    if (!Number.isInteger(count)) {
      throw new ArgumentError(
        `a batch of ${batchSize} problems cannot be shared equally by ${this.size} ranks: choose another --nproc or optimizer.batchSize`,
      );
    }
    return { first: this.rank * count, count };
  }

  // Of one rank everything is its own already: a small collective would cost as much as between many.

  gather(own: Tensor, dim: number): Tensor {
    return this.size === 1 ? own : this.group.gather(own, dim);
  }

  average_(own: Tensor): Tensor {
    return this.size === 1 ? own : noGrad(() => this.group.allReduce_(own).div_(this.size));
  }

  sum_(own: Tensor): Tensor {
    return this.size === 1 ? own : this.group.allReduce_(own);
  }

  reduction(parameters: readonly Tensor[]): Reduction {
    return new GradientReducer(this.group, parameters);
  }

  synchronise(model: nn.Module): void {
    if (this.size === 1) return;
    for (const module of model.modules()) {
      if (module instanceof nn.BatchNorm2d) module.group = this.group;
    }
  }

  anyOf(own: boolean): boolean {
    return scope(() => this.group.allReduce_(this.#value(own ? 1 : 0), 'max').item() > 0);
  }

  firstOf(own: number): number {
    return scope(() => this.group.broadcast_(this.#value(own)).item());
  }

  #value(own: number): Tensor {
    return tensor([own], { dtype: 'f64', device: this.device });
  }

  share(own: Uint8Array | null): Uint8Array {
    const length = this.firstOf(own?.length ?? 0);
    return scope(() => {
      const bytes =
        own === null
          ? zeros([length], { dtype: 'u8', device: this.device })
          : tensor(own.slice(), { shape: [length], device: this.device });
      return this.group.broadcast_(bytes).data() as Uint8Array;
    });
  }

  share_(own: Tensor): Tensor {
    return this.group.broadcast_(own);
  }

  barrier(): Promise<void> {
    if (this.group.backend === 'gloo') return this.group.barrier();
    // NCCL would have to guess which device is this rank's.
    this.anyOf(false);
    return Promise.resolve();
  }
}
