/**
 * The errors of this layer. What is wrong with a question (panels, missing sets, rules) is an
 * `ArgumentError`, with an image or data file a `FormatError`, both of `base`; here is the rest.
 */
import { CrabError, FormatError } from '../base/index.js';

/** A solver that cannot work: disposed, or its runtime failed. */
export class SolverError extends CrabError {
  override name = 'SolverError';
}

/** A bundle that is damaged, of another version, or not a bundle at all. */
export class BundleError extends FormatError {
  override name = 'BundleError';
}

/** There is no bundle where one was looked for. */
export class MissingBundleError extends BundleError {
  override name = 'MissingBundleError';
}
