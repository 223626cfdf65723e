/** Our drawing against the images of the data sets' own generators, pixel by pixel. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ALL_LAYOUTS,
  downscale,
  entityMask,
  IMAGE_PIXELS,
  realBoundingBox,
  renderPanel,
  renderPanel64,
  SMALL_PIXELS,
} from '../../src/matrix/index.js';
import { hasReference, readArrayStart, REFERENCE, referenceProblems } from './reference-files.js';

const IMAGES_OF_PROBLEM = 16;
const PROBLEMS_OF_LAYOUT = 20;

function countDifferent(a: Uint8Array, b: Uint8Array): number {
  expect(a.length).toBe(b.length);
  let different = 0;
  if (Buffer.compare(a, b) === 0) return 0;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) different += 1;
  return different;
}

describe.skipIf(!hasReference).each(ALL_LAYOUTS)('$folder against the reference', (layout) => {
  const problems = hasReference ? [...referenceProblems(layout)] : [];

  test('every pixel of every 160x160 image is the same, upright or rotated', () => {
    expect(problems).toHaveLength(PROBLEMS_OF_LAYOUT);
    for (const { name, panels, images } of problems) {
      expect(images).toHaveLength(IMAGES_OF_PROBLEM * IMAGE_PIXELS);
      panels.forEach(({ panel }, index) => {
        const expected = images.subarray(index * IMAGE_PIXELS, (index + 1) * IMAGE_PIXELS);
        const different = countDifferent(renderPanel(layout, panel), expected);
        expect(different, `${name}, image ${index}`).toBe(0);
      });
    }
  });

  test('every pixel of every 64x64 image of the set is the same', () => {
    const perVariant = PROBLEMS_OF_LAYOUT / 2;
    for (const variant of ['raven', 'iraven']) {
      const set = join(REFERENCE, 'sets', `${variant}_${layout.folder}.npz`);
      const contexts = readArrayStart(set, 'panel', perVariant * 9 * SMALL_PIXELS);
      const candidates = readArrayStart(set, 'selection', perVariant * 8 * SMALL_PIXELS);
      const ours = problems.filter(({ name }) => name.startsWith(`${variant}/`));
      expect(ours).toHaveLength(perVariant);
      for (const { name, panels } of ours) {
        const problem = Number(/RAVEN_(\d+)_/.exec(name)?.[1]);
        panels.forEach(({ panel }, index) => {
          // panel is u8 [N, 9, 64, 64], the answer last; selection is u8 [N, 8, 64, 64].
          const start = index < 8 ? problem * 9 + index : problem * 8 + index - 8;
          const source = index < 8 ? contexts : candidates;
          const expected = source.subarray(start * SMALL_PIXELS, (start + 1) * SMALL_PIXELS);
          const different = countDifferent(renderPanel64(layout, panel), expected);
          expect(different, `${name}, image ${index}`).toBe(0);
        });
      }
    }
  });

  test('small images equal the reference images scaled down', () => {
    const small = new Uint8Array(SMALL_PIXELS);
    for (const { name, panels, images } of problems) {
      panels.forEach(({ panel }, index) => {
        downscale(images, small, 0, index * IMAGE_PIXELS);
        const different = countDifferent(renderPanel64(layout, panel), small);
        expect(different, `${name}, image ${index}`).toBe(0);
      });
    }
  });

  test('masks and boxes of every entity are those of the XML', () => {
    let entities = 0;
    for (const { name, panels } of problems) {
      for (const { component, entity, mask, realBox } of panels.flatMap(
        (panel) => panel.entities,
      )) {
        const place = layout.components[component];
        expect(`[${entityMask(place, entity).join(',')}]`, name).toBe(mask);
        expect(`[${realBoundingBox(place, entity).join(', ')}]`, name).toBe(realBox);
        entities += 1;
      }
    }
    expect(entities).toBeGreaterThanOrEqual(PROBLEMS_OF_LAYOUT * IMAGES_OF_PROBLEM);
  });
});
