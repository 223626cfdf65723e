/** What a system writes of a trained model, from the tensors of a checkpoint: neither libtorch nor a GPU is needed. */
import type { WeightFormat } from './graph.js';
import type { WeightState } from './layers.js';

/** The bytes of the three files that every bundle has. */
export interface NetworkFiles {
  readonly encoder: Uint8Array;
  /** Concepts of the context to those of missing panels. */
  readonly reasoner: Uint8Array;
  readonly decoder: Uint8Array;
}

/** Sizes of what goes between the three: M concepts of d_z values; d_r values of a rule, 0 without rules. */
export interface BundleShape {
  readonly concepts: number;
  readonly conceptSize: number;
  readonly ruleSize: number;
}

interface WriteOptions {
  readonly format: WeightFormat;
  /** Factor the large layers. */
  readonly compact: boolean;
  readonly signal?: AbortSignal;
  /** How far factoring is, 0..1. */
  readonly onProgress?: (share: number) => void;
}

/** How the models of a system become bundles. */
export interface BundleExport<C> {
  /** What a bundle states of a model: its sizes and the standard deviation of its concepts. */
  describe(config: C): { readonly sizes: BundleShape; readonly sigmaZ: number };
  /** The networks; those of a compact model are observed on problems of its configuration. */
  write(config: C, state: WeightState, options: WriteOptions): Promise<NetworkFiles>;
}
