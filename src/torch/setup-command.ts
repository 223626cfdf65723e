/**
 * The commands that this package's own scripts are run by: in a checkout, and in a project that has
 * this package among its dependencies.
 */
import { fileURLToPath } from 'node:url';

const isInstalled = /[\\/]node_modules[\\/]/.test(fileURLToPath(import.meta.url));

export const packageScript = (script: string): string =>
  isInstalled ? `npm explore crab-raven -- npm run ${script}` : `npm run ${script}`;

/** Finds or installs libtorch and builds the addon. */
export const SETUP_TORCH = packageScript('setup:torch');
