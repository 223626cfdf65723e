/** A model at work: missing content does not matter, sampling varies, rules can be imposed, selection. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { impute, readOut } from '../../src/models/index.js';
import { cat, full, Generator, isTorchAvailable, scope, tensor } from '../../src/torch/index.js';
import { damagedPanels, largestGap, noisePanels, tinyModel } from './tiny.js';

const positions = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8], { minLength: 1, maxLength: 8 });

describe.skipIf(!isTorchAvailable())('generation', () => {
  test('the content of missing panels does not matter, not even if it is no number', () => {
    const model = tinyModel(2).eval();
    fc.assert(
      fc.property(positions, positions, fc.constantFrom(0, 7, NaN), (first, second, junk) =>
        scope(() => {
          const [panels, damaged] = damagedPanels(first, second, junk);
          const [a, b] = [panels, damaged].map((given) => impute(model, given, [first, second]));
          expect(a.panels.equal(b.panels)).toBe(true);
          expect(a.concepts.equal(b.concepts)).toBe(true);
          expect(a.rules.equal(b.rules)).toBe(true);
          for (let position = 0; position < 9; position++) {
            const shown = a.panels.select(0, 0).select(0, 0).select(0, position);
            const given = panels.select(0, 0).select(0, position);
            expect(shown.equal(given)).toBe(!first.includes(position));
          }
        }),
      ),
      { seed: 3, numRuns: 15 },
    );
  });

  test('sampling gives several different answers, the same ones with the same seed', () => {
    scope(() => {
      const model = tinyModel(2).eval();
      const panels = noisePanels(1);
      const run = (seed: number) => {
        const generator = new Generator('cpu', seed);
        return impute(model, panels, [[8]], { sampling: { answers: 3, generator, sigmaZ: 0.3 } });
      };
      const [a, b, c] = [run(1), run(1), run(2)];
      expect(a.panels.shape).toEqual([3, 1, 9, 64, 64]);
      expect(a.panels.equal(b.panels)).toBe(true);
      expect(a.panels.equal(c.panels)).toBe(false);
      expect(largestGap(a.panels.select(0, 0), a.panels.select(0, 1))).toBeGreaterThan(0);
      expect(largestGap(a.rules.select(0, 0), a.rules.select(0, 1))).toBeGreaterThan(0);
    });
  });

  test('imposed rules replace the parsed ones of their concepts only', () => {
    scope(() => {
      const model = tinyModel(2).eval();
      const panels = noisePanels(1);
      const plain = impute(model, panels, [[8]]);
      const rules = full([3, 1, 2], 5);
      const use = tensor([[false], [true], [false]]);
      const imposed = impute(model, panels, [[8]], { imposed: { rules, use } });
      expect(imposed.rules.select(1, 1).toArray()).toEqual([5, 5]);
      const changed = imposed.concepts.sub(plain.concepts).abs().sum([0, 2, 3, 4]).toArray();
      expect(changed[0]).toBe(0);
      expect(changed[1]).toBeGreaterThan(0);
      expect(changed[2]).toBe(0);
      expect(largestGap(imposed.parsed.mean, plain.parsed.mean)).toBe(0);
    });
  });

  test('read out gives concepts and rules of complete matrices', () => {
    scope(() => {
      const { concepts, rules } = readOut(tinyModel(2).eval(), noisePanels(4));
      expect(concepts.shape).toEqual([3, 4, 9, 5]);
      expect(rules.mean.shape).toEqual([3, 4, 2]);
    });
  });

  test('the candidate nearest to the prediction scores highest', () => {
    scope(() => {
      const model = tinyModel(2).eval();
      const panels = noisePanels(2);
      const candidates = cat([noisePanels(2, 8).narrow(1, 0, 7), panels.narrow(1, 3, 1)], 1);
      const missing = [[3], [3]];
      const scores = model.score(panels, missing, candidates.unsqueeze(2));
      expect(scores.shape).toEqual([2, 8]);
      const { concepts } = impute(model, panels, missing);
      const predicted = concepts.select(0, 0).select(2, 3); // [M, N, d_z]
      const encoded = model.encode(candidates); // [M, N, C, d_z]
      const gaps = encoded.sub(predicted.unsqueeze(2)).square().sum([0, 3]); // [N, C]
      expect(largestGap(scores, gaps.neg())).toBeLessThan(1e-4);
    });
  });

  test('several missing panels are scored together, and painting is that of impute', () => {
    scope(() => {
      const model = tinyModel(2).eval();
      const panels = noisePanels(2);
      const missing = [
        [3, 8],
        [0, 1],
      ];
      const [first, second] = [4, 5].map((seed) => noisePanels(2, seed).narrow(1, 0, 4)); // [N, 4, 64, 64]
      const candidates = cat([first.unsqueeze(2), second.unsqueeze(2)], 2); // [N, 4, 2, 64, 64]
      const together = model.score(panels, missing, candidates);
      const { concepts } = impute(model, panels, missing);
      const encoded = [first, second].map((each) => model.encode(each)); // [M, N, 4, d_z]
      const sums = missing.map((positions, n) =>
        positions
          .map((position, t) => {
            const predicted = concepts.select(0, 0).select(1, n).select(1, position); // [M, d_z]
            return encoded[t].select(1, n).sub(predicted.unsqueeze(1)).square().sum([0, 2]);
          })
          .reduce((sum, each) => sum.add(each)),
      );
      sums.forEach((sum, n) => {
        expect(largestGap(together.select(0, n), sum.neg())).toBeLessThan(1e-4);
      });
      const painted = model.impute(panels, missing);
      expect(largestGap(painted, impute(model, panels, missing).panels.select(0, 0))).toBeLessThan(
        1e-6,
      );
    });
  });

  test('a model in training mode is refused', () => {
    const model = tinyModel(2).train();
    expect(() => impute(model, noisePanels(1), [[8]])).toThrow(/call eval\(\) first/);
    expect(() => impute(model.eval(), noisePanels(2), [[8]])).toThrow(/expected \[1, 9, 64, 64\]/);
  });
});
