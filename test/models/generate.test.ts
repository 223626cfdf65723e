/** A trained CRAB at work: what scores and paints is what it predicts. */
import { describe, expect, test } from 'vitest';
import { cat, isTorchAvailable, scope, type Tensor } from '../../src/torch/index.js';
import { contextTensor } from '../../src/models/parts/target-sets.js';
import type { CrabModel } from '../../src/models/index.js';
import { largestGap, noisePanels, tinyModel } from './tiny.js';

/** Predicted concepts at every position, [M, N, 9, d_z]. */
const predictedBy = (model: CrabModel, panels: Tensor, missing: number[][]): Tensor =>
  model.reason(model.encode(panels), contextTensor(missing, 'cpu')).predicted.squeeze(1);

describe.skipIf(!isTorchAvailable())('a model in use', () => {
  test('the candidate nearest to the prediction scores highest', () => {
    scope(() => {
      const model = tinyModel(2).eval();
      const panels = noisePanels(2);
      const candidates = cat([noisePanels(2, 8).narrow(1, 0, 7), panels.narrow(1, 3, 1)], 1);
      const missing = [[3], [3]];
      const scores = model.score(panels, missing, candidates.unsqueeze(2));
      expect(scores.shape).toEqual([2, 8]);
      const predicted = predictedBy(model, panels, missing).select(2, 3); // [M, N, d_z]
      const encoded = model.encode(candidates); // [M, N, C, d_z]
      const gaps = encoded.sub(predicted.unsqueeze(2)).square().sum([0, 3]); // [N, C]
      expect(largestGap(scores, gaps.neg())).toBeLessThan(1e-4);
    });
  });

  test('several missing panels are scored together, and painted from what is predicted', () => {
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
      const predicted = predictedBy(model, panels, missing);
      const encoded = [first, second].map((each) => model.encode(each)); // [M, N, 4, d_z]
      const painted = model.impute(panels, missing); // [N, 9, 64, 64]
      const drawn = model.decode(predicted);
      missing.forEach((positions, n) => {
        const sum = positions
          .map((position, t) => {
            const expected = predicted.select(1, n).select(1, position).unsqueeze(1); // [M, 1, d_z]
            return encoded[t].select(1, n).sub(expected).square().sum([0, 2]);
          })
          .reduce((total, each) => total.add(each));
        expect(largestGap(together.select(0, n), sum.neg())).toBeLessThan(1e-4);
        for (let position = 0; position < 9; position++) {
          const source = positions.includes(position) ? drawn : panels;
          const [a, b] = [painted, source].map((all) => all.select(0, n).select(0, position));
          expect(largestGap(a, b)).toBeLessThan(1e-6);
        }
      });
    });
  });

  test('not while it is in training mode', () => {
    const model = tinyModel(2).train();
    expect(() => model.impute(noisePanels(1), [[8]])).toThrow(/call eval\(\) first/);
  });
});
