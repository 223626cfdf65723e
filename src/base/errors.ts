/**
 * The errors every layer shares. Anything wrong with what came from outside (a file, an argument, a JSON
 * value) is one of these; every other exception is a defect of ours.
 */

/** Base class: `instanceof CrabError` tells a foreseen failure from a defect. */
export class CrabError extends Error {
  override name = 'CrabError';
}

/** An argument or a request that cannot be met: an unknown configuration, impossible rules. */
export class ArgumentError extends CrabError {
  override name = 'ArgumentError';
}

/** A file or value from outside that is damaged, absurd or of another format. */
export class FormatError extends CrabError {
  override name = 'FormatError';
}
