/** Why a model could not be had, for people: in words, without addresses. */
import { BundleError, MissingBundleError } from '../../solver/index.js';

/** What went wrong with a model below the address of the zoo. */
export function inPlainWords(error: unknown, name: string, zoo: URL): unknown {
  if (error instanceof MissingBundleError) {
    return new Error(`there is no model for ${name} here`, { cause: error });
  }
  if (!(error instanceof BundleError)) return error;
  // A fetch that fails without an answer is a TypeError.
  if (error.cause instanceof TypeError) {
    const words = `the model for ${name} is not kept on this device, and where it comes from cannot be reached`;
    return new Error(words, { cause: error });
  }
  return new Error(error.message.replaceAll(zoo.href, ''), { cause: error });
}
