/** `zoo/index.json`, beside the page: which bundles are there. A host without it is asked for each. */

export const ZOO_INDEX = 'zoo/index.json';

export interface ZooIndex {
  /** Models of CRAB, which the page lists. */
  readonly bundles: readonly ZooEntry[];
  /** Models of other systems, to compare with; left out if there are none. */
  readonly others?: readonly OtherEntry[];
}

export interface ZooEntry {
  /** Name of its folder: the configuration, with `-noisy` for a noisy one, or that of an exported run. */
  readonly name: string;
  readonly configuration: string;
  readonly noisy: boolean;
  /** Bytes of all its files. */
  readonly bytes: number;
}

export interface OtherEntry extends ZooEntry {
  /** Of the published ones the name begins with it, `transformer/center`; exported runs have plain names. */
  readonly system: string;
}
