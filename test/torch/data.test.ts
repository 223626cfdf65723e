/** Data from and to JavaScript, in every dtype. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  TorchError,
  arange,
  fromBits,
  full,
  isTorchAvailable,
  linspace,
  ones,
  tensor,
  where,
  zeros,
} from '../../src/torch/index.js';

describe.skipIf(!isTorchAvailable())('data', () => {
  test.each([
    ['f32', new Float32Array([1.5, -2])],
    ['f64', new Float64Array([1.5, -2])],
    ['i64', new BigInt64Array([1n, -(2n ** 60n)])],
    ['i32', new Int32Array([1, -2])],
    ['u8', new Uint8Array([1, 255])],
  ] as const)('%s: a typed array comes back as it went', (dtype, array) => {
    const x = tensor(array);
    expect([x.dtype, x.shape]).toEqual([dtype, [2]]);
    expect(x.data()).toEqual(array);
    expect(x.data()).not.toBe(array);
    array[0] = array[1];
    expect(x.data()).not.toEqual(array);
  });

  test('part of a buffer, at an odd offset', () => {
    const bytes = new Uint8Array([9, 1, 2, 3, 9]).subarray(1, 4);
    expect(tensor(bytes).toArray()).toEqual([1, 2, 3]);
    const floats = new Float32Array([0, 1, 2, 3]).subarray(2);
    expect(tensor(floats).toArray()).toEqual([2, 3]);
  });

  test('nested arrays of numbers and booleans', () => {
    const x = tensor([
      [
        [1, 2],
        [3, 4],
      ],
    ]);
    expect(x.shape).toEqual([1, 2, 2]);
    expect(x.toNested()).toEqual([
      [
        [1, 2],
        [3, 4],
      ],
    ]);
    expect(tensor([true, false]).dtype).toBe('bool');
    expect(tensor([true, false]).toNested()).toEqual([true, false]);
    expect(tensor(3).shape).toEqual([]);
    expect(tensor(3).toNested()).toBe(3);
    expect(tensor([]).shape).toEqual([0]);
    expect(tensor([[], []]).shape).toEqual([2, 0]);
  });

  test('16-bit floats: values widened, bits kept', () => {
    for (const dtype of ['f16', 'bf16'] as const) {
      const x = tensor([1, -0.5, 65504], { dtype });
      expect(x.dtype).toBe(dtype);
      const values = x.data();
      expect(values).toBeInstanceOf(Float32Array);
      expect([...values].slice(0, 2)).toEqual([1, -0.5]);
      const again = fromBits(x.bits(), [3], dtype);
      expect(again.data()).toEqual(values);
    }
    expect([...tensor([1], { dtype: 'f16' }).bits()]).toEqual([0x3c00]);
    expect([...tensor([1], { dtype: 'bf16' }).bits()]).toEqual([0x3f80]);
  });

  test('i64: numbers where they are exact, else an error or a bigint', () => {
    expect(tensor([1, 2], { dtype: 'i64' }).toArray()).toEqual([1, 2]);
    const large = tensor(new BigInt64Array([2n ** 60n]));
    expect(() => large.toArray()).toThrow(TorchError);
    expect(large.itemExact()).toBe(2n ** 60n);
    expect(() => tensor([1.5], { dtype: 'i64' })).toThrow(TorchError);
  });

  test('whole numbers keep integers, others make floats, and -0 stays', () => {
    const x = tensor([1, 2], { dtype: 'i64' });
    expect(x.add(1).dtype).toBe('i64');
    expect(x.add(-0).dtype).toBe('i64');
    expect(x.add(0.5).dtype).toBe('f32');
    expect(x.mul(2n).toArray()).toEqual([2, 4]);
    expect(Object.is(full([1], -0).item(), -0)).toBe(true);
    expect(Object.is(ones([1]).mul(-0).item(), -0)).toBe(true);
    expect(full([1], Infinity).item()).toBe(Infinity);
    expect(full([1], NaN).item()).toBeNaN();
  });

  test('copyFrom_ and copyTo, through a view with strides', () => {
    const x = zeros([2, 3]);
    const turned = x.transpose(0, 1); // [3, 2]
    turned.copyFrom_(new Float32Array([1, 2, 3, 4, 5, 6]));
    expect(x.toNested()).toEqual([
      [1, 3, 5],
      [2, 4, 6],
    ]);
    const into = new Float32Array(6);
    turned.copyTo(into);
    expect([...into]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(() => turned.copyTo(new Float32Array(5))).toThrow(TorchError);
    expect(() => x.copyFrom_(new Float32Array(7))).toThrow(TorchError);
  });

  test('copyFrom_ refuses a leaf in use only as PyTorch does: it records nothing', () => {
    const x = zeros([2], { requiresGrad: true });
    x.copyFrom_(new Float32Array([1, 2]));
    expect([x.isLeaf, x.toArray()]).toEqual([true, [1, 2]]);
  });

  test('arange, linspace and where', () => {
    expect(arange(0, 5, 2).toArray()).toEqual([0, 2, 4]);
    expect(arange(0, 5, 2).dtype).toBe('i64');
    expect(arange(0, 1, 0.25).dtype).toBe('f32');
    expect(linspace(0, 1, 3).toArray()).toEqual([0, 0.5, 1]);
    const condition = tensor([true, false]);
    expect(where(condition, tensor([1, 2]), 0).toArray()).toEqual([1, 0]);
    expect(where(condition, 0, tensor([1, 2])).toArray()).toEqual([0, 2]);
    expect(where(condition, 1, 0).toArray()).toEqual([1, 0]);
  });

  test('channels last is another order of the same image', () => {
    const x = arange(0, 24, 1, { dtype: 'f32' }).reshape([1, 2, 3, 4]);
    const y = x.contiguous('channelsLast');
    expect(y.isContiguous('channelsLast')).toBe(true);
    expect(y.strides).toEqual([24, 1, 8, 2]);
    expect(y.toArray()).toEqual(x.toArray());
    expect(x.to({ memoryFormat: 'channelsLast' }).strides).toEqual(y.strides);
  });

  test('any f32 array in any shape comes back unchanged', () => {
    fc.assert(
      fc.property(
        fc.float32Array({ maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (array, rows) => {
          const columns = Math.floor(array.length / rows);
          const part = array.slice(0, rows * columns);
          const x = tensor(part, { shape: [rows, columns] });
          expect(x.transpose(0, 1).contiguous().transpose(0, 1).data()).toEqual(part);
        },
      ),
    );
  });
});
