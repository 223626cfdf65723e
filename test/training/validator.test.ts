import { beforeAll, describe, expect, test } from 'vitest';
import { CrabModel } from '../../src/models/index.js';
import { Generator, isTorchAvailable, noGrad, scope, tensor } from '../../src/torch/index.js';
import {
  makeValidationProblems,
  validationSource,
  type ValidationProblems,
} from '../../src/training/validation/problems.js';
import { Validator } from '../../src/training/validation/validator.js';
import { tinyModel } from './tiny.js';

const COUNT = 70; // more than one slice

describe.skipIf(!isTorchAvailable())('validation', () => {
  let problems: ValidationProblems;
  beforeAll(async () => {
    const source = validationSource({ configuration: 'center', noisy: false, seed: 2 });
    problems = await makeValidationProblems(source, COUNT, 64);
  });

  const freshModel = (): CrabModel =>
    new CrabModel(tinyModel().network, { generator: new Generator('cpu', 1) });

  test("selection accuracy is that of the model's own choice", async () => {
    const model = freshModel();
    const validator = new Validator(problems, 'any', 'cpu');
    const { selectionAccuracy } = await validator.judge(model);
    model.eval();
    for (const variant of ['raven', 'i-raven'] as const) {
      const chosen = scope(() => {
        const pixels = (bytes: Uint8Array, panels: number) =>
          tensor(bytes, { shape: [COUNT, panels, 64, 64] })
            .to({ dtype: 'f32' })
            .div(255);
        const missing = Array.from({ length: COUNT }, () => [8]);
        const candidates = pixels(problems.candidates[variant], 8).unsqueeze(2);
        return model.score(pixels(problems.panels, 9), missing, candidates).argmax(1).toArray();
      });
      const right = chosen.filter((choice, n) => choice === problems.answers[n]).length;
      expect(selectionAccuracy[variant]).toBeCloseTo(right / COUNT, 10);
    }
    validator.dispose();
  });

  test('judging changes nothing: the model trains on as before', async () => {
    const model = freshModel();
    const before = [...model.stateDict()].map(([name, value]) => [name, value.toArray()]);
    const validator = new Validator(problems, 'any', 'cpu');
    const first = await validator.judge(model);
    expect(await validator.judge(model)).toEqual(first);
    expect(model.training).toBe(true);
    expect([...model.stateDict()].map(([name, value]) => [name, value.toArray()])).toEqual(before);
    validator.dispose();
  });

  test('a model that sees no difference scores as by chance', async () => {
    const model = freshModel();
    noGrad(() => {
      for (const weight of model.parameters()) weight.zero_();
    });
    const validator = new Validator(problems, 'any', 'cpu');
    const { globalSelectionAccuracy, selectionAccuracy } = await validator.judge(model);
    expect(globalSelectionAccuracy).toBeLessThan(0.35);
    expect(selectionAccuracy.raven).toBeLessThan(0.35);
    validator.dispose();
  });
});
