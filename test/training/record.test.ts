import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  CONFIGURATIONS,
  decodeRavenNpz,
  hasGrid,
  layoutOf,
  problemPanels,
  ravenFileName,
  renderPanel,
  renderPanel64,
  RULE_ATTRIBUTES,
  RULE_NAMES,
  sampleProblem,
} from '../../src/matrix/index.js';
import { writeRavenProblem } from '../../src/matrix/node.js';
import { isTorchAvailable, scope, tensor } from '../../src/torch/index.js';
import { batchOf, makeRecord, PANELS_ONLY, recordLayout } from '../../src/training/feed/record.js';
import { readStored } from '../../src/training/feed/stored-feed.js';
import { scratchFolder } from '../scratch-folder.js';

const source = { configuration: 'out-in-grid', noisy: false, seed: 11 } as const;
const told = { imageSize: 80, candidates: 'i-raven', rules: true } as const;

function recordOf(needs: Parameters<typeof recordLayout>[0], index: number): Uint8Array {
  const layout = recordLayout(needs);
  const out = new Uint8Array(layout.bytes + 7).fill(77);
  makeRecord(layout, source, index, out, 3);
  // Nothing is written beside the record.
  expect([...out.subarray(0, 3), ...out.subarray(layout.bytes + 3)]).toEqual(Array(7).fill(77));
  return out.slice(3, layout.bytes + 3);
}

describe('a problem as bytes', () => {
  test('nine panels, at every size', () => {
    const { context, candidates, target } = sampleProblem({ ...source, index: 2 });
    const layout = layoutOf('out-in-grid');
    const panels = [...context, candidates[target].panel];
    const at = (imageSize: 64 | 80 | 160) =>
      recordOf({ imageSize, candidates: null, rules: false }, 2);
    expect(Buffer.concat(panels.map((panel) => renderPanel64(layout, panel)))).toEqual(
      Buffer.from(at(64)),
    );
    const whole = Buffer.concat(panels.map((panel) => renderPanel(layout, panel)));
    expect(whole).toEqual(Buffer.from(at(160)));
    const half = at(80);
    for (const [panel, y, x] of [
      [0, 0, 0],
      [3, 40, 41],
      [8, 79, 30],
    ]) {
      const corner = panel * 25600 + 2 * y * 160 + 2 * x;
      const mean =
        (whole[corner] + whole[corner + 1] + whole[corner + 160] + whole[corner + 161]) / 4;
      expect(Math.abs(half[panel * 6400 + y * 80 + x] - mean)).toBeLessThanOrEqual(0.5);
    }
  });

  test('a source with a regime has only the rules of training', () => {
    const record = recordLayout({ imageSize: 64, candidates: null, rules: true });
    const limited = { ...source, rules: { regime: 'a-type' } };
    const bytes = new Uint8Array(record.bytes);
    for (let index = 0; index < 30; index++) {
      makeRecord(record, limited, index, bytes, 0);
      // Components 0 and 1, group 1 (Type): three bytes a rule, its name first.
      const names = [0, 1].map((c) => RULE_NAMES[bytes[record.pixels + (c * 4 + 1) * 3]]);
      expect(names).toEqual(['Constant', 'Constant']);
    }
    const wrong = { ...source, rules: { rules: [{ type: 'xor' }] } };
    expect(() => makeRecord(record, wrong, 0, bytes, 0)).toThrow(/unknown rule "xor"/);
  });

  test('a mixed source goes through the configurations, with their noise', () => {
    const mixed = { configuration: 'center', noisy: false, seed: 9, mixed: true } as const;
    CONFIGURATIONS.forEach((configuration, n) => {
      const own = { configuration, noisy: hasGrid(configuration), seed: 9 };
      const [one, other] = [new Uint8Array(PANELS_ONLY.bytes), new Uint8Array(PANELS_ONLY.bytes)];
      makeRecord(PANELS_ONLY, mixed, n + 7, one, 0);
      makeRecord(PANELS_ONLY, own, n + 7, other, 0);
      expect(one).toEqual(other);
    });
  });

  test.skipIf(!isTorchAvailable())('context, candidates, answer, rules and meta targets', () => {
    scope(() => {
      const layout = recordLayout(told);
      const problem = sampleProblem({ ...source, index: 5, variant: 'i-raven' });
      const rows = tensor(recordOf(told, 5), { shape: [1, layout.bytes] });
      const { panels, choice, labels } = batchOf(layout, rows, 'f32');
      expect(panels.shape).toEqual([1, 8, 80, 80]);
      expect(choice?.candidates.shape).toEqual([1, 8, 80, 80]);
      expect(choice?.answer.toArray()).toEqual([problem.target]);
      const expected = problem.rules.map((component) =>
        component.map(({ name, attribute, value }) => [
          RULE_NAMES.indexOf(name),
          RULE_ATTRIBUTES.indexOf(attribute),
          128 + value,
        ]),
      );
      expect(labels?.rules.toNested()).toEqual([expected]);
      const names = new Set(problem.rules.flat().map(({ name }) => RULE_NAMES.indexOf(name)));
      const meta = labels?.metaTarget.toArray() ?? [];
      expect(meta.slice(0, 4)).toEqual([0, 1, 2, 3].map((rule) => Number(names.has(rule))));
      expect(labels?.metaStructure.sum().item()).toBe(5);
    });
  });

  test.skipIf(!isTorchAvailable())('a component that is not there is 255', () => {
    scope(() => {
      const needs = { ...told, imageSize: 64 } as const;
      const layout = recordLayout(needs);
      const out = new Uint8Array(layout.bytes);
      makeRecord(layout, { configuration: 'center', noisy: false, seed: 1 }, 0, out, 0);
      const rows = tensor(out, { shape: [1, layout.bytes] });
      const { labels } = batchOf(layout, rows, 'f32');
      expect(labels?.rules.select(1, 1).min().item()).toBe(255);
      expect(labels?.rules.select(1, 0).max().item()).toBeLessThan(255);
    });
  });
});

describe('a RAVEN folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = scratchFolder();
    for (let index = 0; index < 3; index++) {
      const problem = sampleProblem({ ...source, index, variant: 'i-raven' });
      await writeRavenProblem(folder, index, problem);
    }
  });

  test.each([64, 80, 160] as const)(
    'gives the records of the same problems at %i pixels',
    async (imageSize) => {
      const layout = recordLayout({ ...told, imageSize });
      const { records } = await readStored(folder, layout, 'out-in-grid', false);
      for (let index = 0; index < 3; index++) {
        const stored = records.subarray(index * layout.bytes, (index + 1) * layout.bytes);
        expect(Buffer.from(stored)).toEqual(Buffer.from(recordOf({ ...told, imageSize }, index)));
      }
    },
  );

  test('its pictures are those of the files', async () => {
    const layout = recordLayout({ ...told, imageSize: 160 });
    const { records } = await readStored(folder, layout, 'out-in-grid', false);
    const file = path.join(folder, layoutOf('out-in-grid').folder, `${ravenFileName(1)}.npz`);
    const { images } = await decodeRavenNpz(new Uint8Array(readFileSync(file)));
    const from = layout.bytes;
    expect(Buffer.from(records.subarray(from, from + layout.pixels))).toEqual(Buffer.from(images));
    expect(images.length).toBe(
      problemPanels(sampleProblem({ ...source, index: 1 })).length * 25600,
    );
  });
});
