/** Problems from files and pictures in memory; examples/browser does the same in a browser. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  ArgumentError,
  decodePng,
  encodeRavenNpz,
  FormatError,
  renderProblem,
  sampleProblem,
} from '../../src/matrix/index.js';
import { readProblem as readInBrowser } from '../../src/solver/index.js';
import { readProblem } from '../../src/solver/node.js';

const picture = path.resolve(import.meta.dirname, '../../docs/images/matrix.png');
const bytes = readFileSync(picture);

/** A picture as a canvas gives it. */
function imageDataOf(): { width: number; height: number; data: Uint8ClampedArray } {
  const { width, height, data } = decodePng(bytes);
  const rgba = new Uint8ClampedArray(4 * data.length);
  data.forEach((value, i) => rgba.set([255 * value, 255 * value, 255 * value, 255], 4 * i));
  return { width, height, data: rgba };
}

describe.each([
  ['Node', readProblem],
  ['a browser', readInBrowser],
])('readProblem for %s', (_, read) => {
  test('reads the same from a path, a Blob, a File and an ImageData', async () => {
    const expected = await readProblem(picture);
    expect([expected.missing, expected.candidates.length]).toEqual([[9], 8]);
    expect(await read(new Blob([bytes]))).toEqual(expected);
    expect(await read(Object.assign(new Blob([bytes]), { name: 'matrix.png' }))).toEqual(expected);
    const { panels, missing, candidates } = await read(imageDataOf());
    expect([missing, panels.length, candidates.length]).toEqual([[9], 9, 8]);
  });

  test('reads a RAVEN problem', async () => {
    const problem = sampleProblem({ configuration: 'center', seed: 2, index: 3 });
    const file = encodeRavenNpz(problem, renderProblem(problem).images) as Uint8Array<ArrayBuffer>;
    const { answer, configurations, missing } = await read(new Blob([file]));
    expect([answer, configurations, missing]).toEqual([problem.target, ['center'], [9]]);
  });

  test.each([[undefined], [null], [7], [{}], [[]]])(
    'says what it expects instead of %j',
    async (value) => {
      const reading = read(value as never);
      await expect(reading).rejects.toThrow(ArgumentError);
      await expect(reading).rejects.toThrow('readProblem: expected a path or address, a File');
    },
  );

  test('names a file that is no problem', async () => {
    const file = Object.assign(new Blob(['text']), { name: 'notes.txt' });
    await expect(read(file)).rejects.toThrow(FormatError);
    await expect(read(file)).rejects.toThrow(/^notes\.txt(:| is) .*(neither|not)/);
  });

  test('refuses a file of gigabytes before it reads it', async () => {
    const arrayBuffer = vi.fn();
    const file = { name: 'film.mp4', size: 5e9, arrayBuffer };
    await expect(read(file)).rejects.toThrow('film.mp4 is larger than 64 MB');
    expect(arrayBuffer).not.toHaveBeenCalled();
  });
});

describe('an address in a browser', () => {
  test('is loaded, and named if it cannot be', async () => {
    vi.stubGlobal('fetch', (address: string) =>
      Promise.resolve(
        address === '/matrix.png' ? new Response(bytes) : new Response('', { status: 404 }),
      ),
    );
    try {
      expect((await readInBrowser('/matrix.png')).missing).toEqual([9]);
      await expect(readInBrowser('/other.png')).rejects.toThrow(
        '/other.png: the server answers 404',
      );
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
