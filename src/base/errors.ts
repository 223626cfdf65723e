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

/** What an error says, or anything else that was thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Its first line: libraries put codes and stacks below. */
export const firstLineOf = (error: unknown): string => messageOf(error).split('\n', 1)[0];
