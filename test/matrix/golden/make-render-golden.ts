/**
 * Writes `render.json`: hashes of fixed panels drawn plainly and of their small images, so
 * that a change of any pixel is noticed where the reference files are absent. Run it with
 * `npx tsx test/matrix/golden/make-render-golden.ts`, and only after the fidelity tests have passed
 * against the reference.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderGolden } from './render-golden.js';

writeFileSync(
  join(import.meta.dirname, 'render.json'),
  `${JSON.stringify(renderGolden(), null, 2)}\n`,
);
