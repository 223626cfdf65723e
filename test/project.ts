/** The checkout, and the published models in it. */
import { existsSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '..');
export const ZOO = path.join(ROOT, 'zoo');

/** Whether models of these names are there. */
export const arePublished = (...names: readonly string[]): boolean =>
  names.every((name) => existsSync(path.join(ZOO, name, 'bundle.json')));
