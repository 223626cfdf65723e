import { describe, expect, test } from 'vitest';
import { layerViolation } from '../../scripts/eslint-layers.mjs';

describe('the layer rule', () => {
  test.each([
    ['models/crab/model.ts', 'torch/index.ts'],
    ['models/crab/model.ts', 'models/crab/presets.ts'],
    ['solver/solver.ts', 'matrix/index.ts'],
    ['solver/node.ts', 'matrix/node.ts'],
    ['solver/solver.ts', 'base/index.ts'],
    ['torch/errors.ts', 'base/index.ts'],
    ['torch/native.ts', 'base/node.ts'],
    ['studio/app.ts', 'protocol/index.ts'],
    ['server/zoo.ts', 'protocol/index.ts'],
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
    ['torch/tensor.ts', 'matrix/index.ts', /may import only from base/],
    ['base/errors.ts', 'matrix/index.ts', /may import only from itself/],
    ['base/errors.ts', 'base/node/folders.ts', /browser/],
    ['protocol/index.ts', 'matrix/index.ts', /may import only from itself/],
    ['solver/solver.ts', 'protocol/index.ts', /only from base, matrix/],
    ['matrix/json.ts', 'base/errors.ts', /through its index/],
    ['matrix/json.ts', 'base/node.ts', /browser/],
    ['models/index.ts', 'protocol/index.ts', /may import only from/],
    ['solver/solver.ts', 'torch/index.ts', /only from base, matrix/],
    ['studio/app.ts', 'lab/index.ts', /only from base, matrix, solver, protocol/],
    ['models/crab/model.ts', 'torch/tensor.ts', /through its index/],
    ['matrix/sampling.ts', 'matrix/node.ts', /browser/],
    ['solver/solver.ts', 'matrix/node.ts', /browser/],
    ['training/loop.ts', 'cli/main.ts', /may import only from/],
    ['index.ts', 'solver/node.ts', /browser/],
    ['common.ts', 'node.ts', /browser/],
    ['node.ts', 'training/index.ts', /only base, matrix, solver/],
    ['helpers/index.ts', 'matrix/index.ts', /only the layers/],
  ])('%s may not import %s', (from, to, why) => {
    expect(layerViolation(from, to)).toMatch(why);
  });
});
