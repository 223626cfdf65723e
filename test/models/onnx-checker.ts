/** ONNX's own checker, by Python's package onnx, if that is installed. */
import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';

const CHECK = `
import sys, onnx
for name in sys.argv[1:]:
    model = onnx.load(name)
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    assert model.ir_version == 8 and model.opset_import[0].version == 17
    batch = model.graph.input[0].type.tensor_type.shape.dim[0]
    assert batch.dim_param == 'N', batch
    declared = {v.name for v in model.graph.value_info} | {o.name for o in model.graph.output}
    assert all(out in declared for node in model.graph.node for out in node.output)
    print('fine')
`;
const PYTHON = ['/usr/bin/python3', 'python3'].find(
  (python) => spawnSync(python, ['-c', 'import onnx']).status === 0,
);

export const HAS_CHECKER = PYTHON !== undefined;

/** Expects that all files pass the full check and say the shape of everything in them. */
export function checkOnnxFiles(files: readonly string[]): void {
  const result = spawnSync(PYTHON ?? 'python3', ['-c', CHECK, ...files], { encoding: 'utf8' });
  expect(result.stderr).toBe('');
  expect(result.stdout.trim().split('\n')).toEqual(files.map(() => 'fine'));
}
