/**
 * The errors of this folder. Every failure of an operation is a TorchError that names the operation; those
 * kinds that callers must tell apart have classes of their own.
 */
import { CrabError } from '../base/index.js';
import { SETUP_TORCH } from './setup-command.js';

/** An operation failed: wrong arguments, shapes that do not fit, a freed tensor, or libtorch refused. */
export class TorchError extends CrabError {
  override name = 'TorchError';

  /** @param op the operation, in TypeScript's name where there is one: `matmul`, `conv2d`, `backward` */
  constructor(
    readonly op: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${op}: ${message}`, options);
  }
}

/** There was not enough memory, of the machine or of the device. */
export class OutOfMemoryError extends TorchError {
  override name = 'OutOfMemoryError';
}

/** Another process of a group died, hung or could not be reached, or the group could not be formed. */
export class ProcessGroupError extends TorchError {
  override name = 'ProcessGroupError';
}

/** libtorch's addon is not there, or cannot be loaded; the message says how to get it. */
export class TorchUnavailableError extends CrabError {
  /** What is the matter, without the advice. */
  readonly reason: string;

  constructor(why: string, options?: ErrorOptions) {
    const reason = `libtorch is not available (${why})`;
    super(`${reason}; run \`${SETUP_TORCH}\` to get it`, options);
    this.name = 'TorchUnavailableError';
    this.reason = reason;
  }
}
