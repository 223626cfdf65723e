/** Who frees tensors, when, and what the collector is told. */
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { Tensor } from '../../src/torch/index.js';
import {
  TorchError,
  isTorchAvailable,
  keep,
  liveTensors,
  ones,
  scope,
  tensor,
  zeros,
} from '../../src/torch/index.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collects until nothing more is freed: earlier tests leave garbage. */
async function settle(): Promise<{ tensors: number; bytes: number }> {
  for (let before = Infinity; liveTensors().tensors < before;) {
    before = liveTensors().tensors;
    collect();
    await wait(1);
  }
  return liveTensors();
}

describe.skipIf(!isTorchAvailable())('lifetime of tensors', () => {
  test('dispose frees at once, twice is once, and use afterwards is an error', async () => {
    const before = await settle();
    const x = ones([1000]);
    expect(liveTensors()).toEqual({ tensors: before.tensors + 1, bytes: before.bytes + 4000 });
    x.dispose();
    x.dispose();
    expect(liveTensors()).toEqual(before);
    expect(x.isFreed).toBe(true);
    expect(String(x)).toBe('Tensor(freed)');
    expect(() => x.add(1)).toThrow(new TorchError('add', 'the tensor has been freed'));
    expect(() => ones([1]).add(x)).toThrow(TorchError);
    expect(() => x.shape).toThrow(TorchError);
    expect(() => x.data()).toThrow(TorchError);
    expect(() => x.backward()).toThrow(TorchError);
    expect(() => x.grad).toThrow(TorchError);
  });

  test('views keep memory alive and share its bytes', async () => {
    const before = await settle();
    const x = ones([10, 100]);
    const view = x.transpose(0, 1);
    const part = view.narrow(0, 0, 2);
    expect(liveTensors()).toEqual({ tensors: before.tensors + 3, bytes: before.bytes + 4000 });
    x.dispose();
    view.dispose();
    expect(liveTensors().bytes).toBe(before.bytes + 4000);
    expect(scope(() => part.sum().item())).toBe(20);
    part.dispose();
    expect(liveTensors()).toEqual(before);
  });

  test('scope frees what it made, except what it returns or keeps', async () => {
    const before = await settle();
    let inner: Tensor | null = null;
    let kept: Tensor | null = null;
    const result = scope(() => {
      inner = ones([2]);
      kept = keep(inner.add(1));
      const returned = inner.add(2);
      return {
        list: [returned],
        map: new Map([['x', inner.add(3)]]),
        set: new Set([inner.add(4)]),
        n: 1,
      };
    });
    expect(inner!.isFreed).toBe(true);
    expect(kept!.toArray()).toEqual([2, 2]);
    expect(result.list[0].toArray()).toEqual([3, 3]);
    expect(result.map.get('x')!.toArray()).toEqual([4, 4]);
    expect([...result.set][0].toArray()).toEqual([5, 5]);
    expect(liveTensors().tensors).toBe(before.tensors + 4);
  });

  test('an inner scope hands its result to the outer one', () => {
    let handedOver: Tensor | null = null;
    const result = scope(() => {
      handedOver = scope(() => ones([1]).add(1));
      expect(handedOver.isFreed).toBe(false);
      return handedOver.add(1);
    });
    expect(handedOver!.isFreed).toBe(true);
    expect(result.item()).toBe(3);
  });

  test('what was made outside of a scope survives it, also if returned', () => {
    const outside = ones([1]);
    expect(scope(() => outside)).toBe(outside);
    scope(() => outside.add(1));
    expect(outside.isFreed).toBe(false);
  });

  test('keep works from an inner scope for a tensor of an outer one', () => {
    const made = scope(() => {
      const x = ones([1]);
      scope(() => keep(x));
      return [() => x];
    });
    expect(made[0]().isFreed).toBe(false);
  });

  test('an error frees everything and passes through', async () => {
    const before = await settle();
    expect(() =>
      scope(() => {
        ones([5]);
        throw new RangeError('mine');
      }),
    ).toThrow(RangeError);
    expect(liveTensors()).toEqual(before);
    expect(scope(() => ones([1])).isFreed).toBe(false);
  });

  test('a promise out of a scope is an error', () => {
    expect(() => scope(async () => Promise.resolve(ones([1])))).toThrow(
      'scope: the function returned a promise; it must be synchronous',
    );
  });

  test('the collector frees what was forgotten, also while a program never yields', async () => {
    const before = await settle();
    let most = 0;
    // 1.6 GB behind 400 small objects: V8 acts in time only because it is told the bytes.
    for (let i = 0; i < 400; i++) {
      zeros([1_000_000]);
      most = Math.max(most, liveTensors().bytes - before.bytes);
    }
    expect(most).toBeLessThan(400e6);
    expect((await settle()).tensors).toBeLessThanOrEqual(before.tensors + 1);
  });

  test('setData moves a leaf to other memory', async () => {
    const before = await settle();
    const x = tensor([1, 2], { requiresGrad: true });
    const y = tensor([3, 4, 5], { dtype: 'f64' });
    x.setData(y);
    expect(x.sharesMemoryWith(y)).toBe(true);
    expect([x.dtype, x.isLeaf, x.requiresGrad]).toEqual(['f64', true, true]);
    scope(() => x.mul(2).sum().backward());
    expect(scope(() => x.grad!.toArray())).toEqual([2, 2, 2]);
    x.dispose();
    y.dispose();
    expect(liveTensors()).toEqual(before);
  });

  test('Symbol.dispose frees, for `using`', () => {
    const x = ones([1]);
    x[Symbol.dispose]();
    expect(x.isFreed).toBe(true);
  });
});
