/** `zoo/index.json`, beside the page: which bundles are there. A host without it is asked for each. */

export const ZOO_INDEX = 'zoo/index.json';

export interface ZooIndex {
  readonly bundles: readonly ZooEntry[];
}

export interface ZooEntry {
  /** Name of its folder: the configuration, with `-noisy` for a noisy one, or that of an exported run. */
  readonly name: string;
  readonly configuration: string;
  readonly noisy: boolean;
  /** Bytes of all its files. */
  readonly bytes: number;
}
