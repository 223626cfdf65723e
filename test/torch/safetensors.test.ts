/**
 * Tensors through safetensors files: every type, views, modules, checkpoints of optimisers.
 */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as torch from '../../src/torch/index.js';
import {
  DTYPES,
  Generator,
  loadSafetensors,
  nn,
  optim,
  readTensor,
  SafetensorsFile,
  saveSafetensors,
  scope,
} from '../../src/torch/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { devices, hasTorch } from './golden/support.js';

const folder = scratchFolder();

describe.each(devices)('safetensors on $device', ({ device, present }) => {
  test.skipIf(!present)('every type and shape comes back with its bits', () => {
    scope(() => {
      const path = join(folder, `types-${device}.safetensors`);
      const generator = new Generator('cpu', 1);
      const tensors = new Map(
        DTYPES.flatMap((dtype) =>
          [[2, 3], [], [0, 4], [1]].map((shape) => {
            const values = torch.randn(shape, { generator }).mul(3);
            return [`${dtype}-${shape.join('x')}`, values.to({ dtype, device })] as const;
          }),
        ),
      );
      saveSafetensors(path, tensors, { note: 'x' });
      const loaded = loadSafetensors(path, device);
      expect(loaded.metadata.note).toBe('x');
      expect([...loaded.tensors.keys()].sort()).toEqual([...tensors.keys()].sort());
      for (const [name, tensor] of tensors) {
        const back = loaded.tensors.get(name) as torch.Tensor;
        expect([back.dtype, back.shape]).toEqual([tensor.dtype, tensor.shape]);
        expect(back.device.startsWith(device)).toBe(true);
        expect(back.bits()).toEqual(tensor.bits());
      }
    });
  });
});

describe.skipIf(!hasTorch)('safetensors', () => {
  test('a view is stored dense, without the memory around it', () => {
    scope(() => {
      const path = join(folder, 'view.safetensors');
      const whole = torch.arange(0, 12).reshape([3, 4]);
      saveSafetensors(path, [['transposed', whole.transpose(0, 1).narrow(0, 1, 2)]]);
      const file = SafetensorsFile.open(path);
      expect(readTensor(file, 'transposed').toNested()).toEqual([
        [1, 5, 9],
        [2, 6, 10],
      ]);
      file.close();
    });
  });

  test('a module and its optimiser go on after a checkpoint as if never stopped', () => {
    scope(() => {
      const path = join(folder, 'checkpoint.safetensors');
      const build = (seed: number) => {
        const generator = new Generator('cpu', seed);
        const net = new nn.Sequential(
          new nn.Conv2d(1, 2, 3, { generator }),
          new nn.BatchNorm2d(2),
          new nn.Flatten(),
          new nn.Linear(8, 1, { generator }),
        );
        return { net, rms: new optim.RMSprop(net.parameters(), { learningRate: 0.01 }) };
      };
      const x = torch.rand([3, 1, 4, 4], { generator: new Generator('cpu', 9) });
      const train = ({ net, rms }: ReturnType<typeof build>) =>
        scope(() => {
          rms.zeroGrad();
          net.forward(x).square().mean().backward();
          rms.step();
        });
      const one = build(1);
      train(one);
      train(one);
      const state = [...one.net.stateDict()].map(([name, t]) => [`model.${name}`, t] as const);
      const ofOptimizer = [...one.rms.stateTensors()].map(([n, t]) => [`optim.${n}`, t] as const);
      saveSafetensors(path, [...state, ...ofOptimizer]);
      train(one);

      const two = build(2);
      const { tensors } = loadSafetensors(path);
      const part = (prefix: string) =>
        new Map(
          [...tensors]
            .filter(([name]) => name.startsWith(prefix))
            .map(([name, t]) => [name.slice(prefix.length), t]),
        );
      two.net.loadStateDict(part('model.'));
      two.rms.loadStateTensors(part('optim.'));
      train(two);
      for (const [name, t] of one.net.stateDict()) {
        expect(two.net.stateDict().get(name)?.bits(), name).toEqual(t.bits());
      }
    });
  });
});
