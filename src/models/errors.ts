/** The errors of this layer: a foreseen failure, as opposed to a defect of ours. */
import { CrabError } from '../base/index.js';

export class ModelError extends CrabError {
  override name = 'ModelError';
}

/** A configuration, argument or stored value that is not what it should be. */
export class ConfigurationError extends ModelError {
  override name = 'ConfigurationError';
}
