import { describe, expect, test } from 'vitest';
import { layerViolation } from '../../scripts/eslint-layers.mjs';

describe('the layer rule', () => {
  test.each([
    ['models/crab/model.ts', 'torch/index.ts'],
    ['models/crab/model.ts', 'models/crab/presets.ts'],
    ['solver/solver.ts', 'matrix/index.ts'],
    ['solver/node.ts', 'matrix/node.ts'],
    ['studio/app.ts', 'solver/index.ts'],
    ['cli/generate.ts', 'matrix/node.ts'],
    ['matrix/node/folder.ts', 'matrix/sampling.ts'],
    ['index.ts', 'solver/index.ts'],
    ['node.ts', 'solver/node.ts'],
    ['node.ts', 'common.ts'],
  ])('%s may import %s', (from, to) => {
    expect(layerViolation(from, to)).toBeNull();
  });

  test.each([
    ['matrix/sampling.ts', 'torch/index.ts', /may import only from/],
    ['torch/tensor.ts', 'matrix/index.ts', /may import only from itself/],
    ['solver/solver.ts', 'torch/index.ts', /only from matrix/],
    ['studio/app.ts', 'lab/index.ts', /only from matrix, solver/],
    ['models/crab/model.ts', 'torch/tensor.ts', /through its index/],
    ['matrix/sampling.ts', 'matrix/node.ts', /browser/],
    ['solver/solver.ts', 'matrix/node.ts', /browser/],
    ['training/loop.ts', 'cli/main.ts', /may import only from/],
    ['index.ts', 'solver/node.ts', /browser/],
    ['common.ts', 'node.ts', /browser/],
    ['node.ts', 'training/index.ts', /only matrix, solver/],
    ['helpers/index.ts', 'matrix/index.ts', /only the layers/],
  ])('%s may not import %s', (from, to, why) => {
    expect(layerViolation(from, to)).toMatch(why);
  });
});
