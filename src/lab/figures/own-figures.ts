/** Figures as files that are written again and again: only those that we drew are replaced or removed. */
import { ArgumentError } from '../../base/index.js';
import { exists, ifMissing, readSmallFile } from '../../base/node.js';
import { isFigure } from './drawing.js';

const LARGEST = 64 << 20;

/** Refuses if one of these files is there and is not ours. A PNG is ours if the SVG beside it is. */
export async function requireOwnFigures(files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (!(await exists(file))) continue;
    const svg = file.replace(/\.png$/, '.svg');
    const text = await readSmallFile(svg, LARGEST).then(String, ifMissing(''));
    if (isFigure(text)) continue;
    throw new ArgumentError(
      `${file} is not a figure that crab drew: move it, or name another folder`,
    );
  }
}
