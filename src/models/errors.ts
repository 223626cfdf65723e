/** The errors of this layer: a foreseen failure, as opposed to a defect of ours. */

export class ModelError extends Error {
  override name = 'ModelError';
}

/** A configuration, argument or stored value that is not what it should be. */
export class ConfigurationError extends ModelError {
  override name = 'ConfigurationError';
}
