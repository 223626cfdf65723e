/** Loads one native library and says what it is. In a process of its own: a broken one may crash it. */
import { firstLineOf } from '../../base/index.js';
import type { Finding, Library, OnnxFinding, TorchFinding } from './findings.js';

async function lookAtTorch(): Promise<Finding<TorchFinding>> {
  const { torchInfo } = await import('../../torch/index.js');
  const torch = torchInfo();
  if (torch.info === null) return { found: null, reason: torch.missing.reason };
  const { info } = torch;
  const { version, cuda, blas } = info;
  const devices = info.devices.map(({ name, memory }) => ({ name, memory }));
  return { found: { version, cuda, devices, blas }, reason: null };
}

async function lookAtOnnx(): Promise<Finding<OnnxFinding>> {
  const { nodeRuntime } = await import('../../solver/node.js');
  const { version, kind, nativeFault } = await nodeRuntime();
  return { found: { version, kind, nativeFault }, reason: null };
}

const LOOKS: Record<Library, () => Promise<Finding<unknown>>> = {
  torch: lookAtTorch,
  onnx: lookAtOnnx,
};

async function look(library: string): Promise<Finding<unknown>> {
  try {
    return await LOOKS[library as Library]();
  } catch (error) {
    return { found: null, reason: firstLineOf(error) };
  }
}

const finding = await look(process.argv[2]);
process.send?.(finding, () => process.exit(0));
