/** The library as a whole: what it says of itself, threads, switches, the set-up script, CUDA where there is one. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Tensor } from '../../src/torch/index.js';
import {
  CudaGraph,
  Generator,
  OutOfMemoryError,
  TorchError,
  autocast,
  conv2d,
  cudaIsAvailable,
  cudaMemory,
  emptyCache,
  isIdle,
  onSideStream,
  useSideStream,
  getNumThreads,
  isTorchAvailable,
  noGrad,
  ones,
  operator,
  randn,
  resetPeakMemory,
  scope,
  setAllowTf32,
  setCudnnEnabled,
  setCudnnBenchmark,
  setDeterministic,
  setNumThreads,
  synchronize,
  tensor,
  torchInfo,
  torchVersion,
  zeros,
} from '../../src/torch/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe.skipIf(!isTorchAvailable())('runtime', () => {
  test('torchInfo says what is in use', () => {
    const { info } = torchInfo();
    expect(info!.version).toMatch(/^[12]\.\d+\.\d+/);
    expect(info!.blas).not.toBe('');
    expect(torchVersion().major).toBe(Number(info!.version[0]));
  });

  const isDebians = torchInfo().info?.version.startsWith('1.') ?? false;
  test.skipIf(!isDebians)('OpenBLAS (OpenMP) is in use, with kernels of this processor', () => {
    const { info } = torchInfo();
    expect(info!.blas).toMatch(/OpenBLAS.*\(openmp\)/);
    expect(info!.blas).not.toMatch(/Prescott/);
  });

  test('threads: one at first, and as many as asked', () => {
    expect(getNumThreads()).toBe(1);
    setNumThreads(2);
    expect(getNumThreads()).toBe(2);
    expect(
      ones([300, 300])
        .matmul(ones([300, 300]))
        .sum()
        .item(),
    ).toBe(300 ** 3);
    setNumThreads(1);
    for (const threads of [0, -1, 1.5, NaN, 1e6, 'x' as never]) {
      expect(() => setNumThreads(threads)).toThrow(TorchError);
    }
  });

  test('autocast narrows products inside it, and only there', () => {
    const a = ones([4, 4], { requiresGrad: true });
    const inside = autocast('cpu', 'bf16', () => a.matmul(a));
    expect([inside.dtype, a.matmul(a).dtype]).toEqual(['bf16', 'f32']);
    inside.sum().backward();
    expect(a.grad!.dtype).toBe('f32');
    const nested = autocast('cpu', 'bf16', () => autocast('cpu', 'bf16', () => a.matmul(a), false));
    expect(nested.dtype).toBe('f32');
    expect(() =>
      autocast('cpu', 'bf16', () => {
        throw new RangeError('mine');
      }),
    ).toThrow(RangeError);
    expect(a.matmul(a).dtype).toBe('f32');
    expect(() => autocast('cpu', 'f32' as never, () => 1)).toThrow(TorchError);
    expect(() => autocast('tpu' as never, 'bf16', () => 1)).toThrow(TorchError);
    expect(() => autocast('cpu', 'bf16', async () => Promise.resolve())).toThrow(TorchError);
    expect(a.matmul(a).dtype).toBe('f32');
  });

  test('switches take booleans', () => {
    for (const set of [setDeterministic, setCudnnBenchmark, setAllowTf32, setCudnnEnabled]) {
      set(true);
      set(false);
      expect(() => set('x' as never)).toThrow(TorchError);
    }
    setCudnnEnabled(true);
  });

  test('any operator of libtorch is reachable', () => {
    const x = [tensor([1, 2]), tensor([3])];
    operator('_foreach_add_', 'Scalar').call(x, 10);
    expect(x.map((each) => each.toArray())).toEqual([[11, 12], [13]]);
    const roots = operator('_foreach_sqrt').tensors([tensor([4, 9])]);
    expect(roots[0].toArray()).toEqual([2, 3]);
    expect(operator('add', 'Tensor').schema()).toMatch(
      /^aten::add\.Tensor\(Tensor self, Tensor other/,
    );
    const [mean, deviation] = operator('std_mean')
      .tensors(tensor([1, 3]))
      .reverse();
    expect([mean.item(), deviation.item()]).toEqual([2, Math.fround(Math.SQRT2)]);
    expect(operator('is_same_size').call(x[0], x[1])).toBe(false);
    expect(operator('size', 'int').call(x[0], 0)).toBe(2);
  });

  test('channels last goes through a convolution', () => {
    const x = randn([1, 4, 8, 8]).contiguous('channelsLast');
    const weight = randn([6, 4, 3, 3]).contiguous('channelsLast');
    const y = conv2d(x, weight);
    expect(y.isContiguous('channelsLast')).toBe(true);
    const plain = conv2d(x.contiguous(), weight.contiguous());
    expect(y.allclose(plain, 1e-4, 1e-4)).toBe(true);
  });

  test.skipIf(!existsSync(`${root}/build/torch/crab_torch.node`))(
    'the set-up script finds its work done, and checks it',
    () => {
      const run = (flag: string): string =>
        execFileSync(process.execPath, ['scripts/setup-torch.mjs', flag], {
          cwd: root,
          encoding: 'utf8',
        });
      expect(run('--if-needed')).toBe('');
      expect(run('--check')).toMatch(/^libtorch \d+\.\d+\.\d+, .*BLAS: /);
    },
  );
});

describe.skipIf(cudaIsAvailable() || !isTorchAvailable())('without CUDA', () => {
  test('asking for it is an error in words', () => {
    expect(() => zeros([1], { device: 'cuda' })).toThrow(/no CUDA device/);
    expect(() => synchronize()).toThrow(TorchError);
    expect(() => cudaMemory()).toThrow(TorchError);
    expect(() => CudaGraph.capture(() => 1)).toThrow(TorchError);
    expect(() => useSideStream()).toThrow(TorchError);
    expect(() => onSideStream(() => 1)).toThrow(TorchError);
    expect(() => isIdle()).toThrow(TorchError);
    expect(() => new Generator('cuda:0', 1)).toThrow(TorchError);
  });
});

describe.skipIf(!cudaIsAvailable())('CUDA', () => {
  test('data goes there and back, and products agree with the CPU', () => {
    setAllowTf32(false);
    const generator = new Generator('cpu', 1);
    const a = randn([64, 64], { generator });
    const b = a.to({ device: 'cuda' });
    expect(b.device).toBe('cuda:0');
    expect(b.data()).toEqual(a.data());
    expect(b.matmul(b).to({ device: 'cpu' }).allclose(a.matmul(a), 1e-4, 1e-4)).toBe(true);
  });

  test('memory is counted, and too much of it is an error of its own', () => {
    resetPeakMemory();
    const before = cudaMemory();
    const x = zeros([1024, 1024], { device: 'cuda' });
    synchronize();
    expect(cudaMemory().allocated - before.allocated).toBe(4 * 1024 * 1024);
    expect(cudaMemory().peakAllocated).toBeGreaterThanOrEqual(cudaMemory().allocated);
    x.dispose();
    expect(cudaMemory().allocated).toBe(before.allocated);
    expect(() => zeros([1e12], { device: 'cuda' })).toThrow(OutOfMemoryError);
    emptyCache();
  });

  test('a captured step replays on new data, and draws new numbers', () => {
    const generator = new Generator('cuda', 1);
    const input = zeros([8, 8], { device: 'cuda' });
    const weight = randn([8, 8], { generator }).requiresGrad_();
    const step = (): Tensor =>
      scope(() => {
        weight.grad = null;
        const loss = input.matmul(weight).square().sum();
        loss.backward();
        noGrad(() => weight.sub_(weight.grad!, 0.001));
        return loss.detach();
      });
    const noise = (): Tensor => randn([4], { generator });
    for (let i = 0; i < 3; i++) step().dispose();
    const graph = CudaGraph.capture(() => ({ loss: step(), noise: noise() }), {
      generators: [generator],
      warmUp: 2,
    });
    input.copy_(ones([8, 8], { device: 'cuda' }));
    const losses: number[] = [];
    const draws: string[] = [];
    for (let i = 0; i < 5; i++) {
      graph.replay();
      synchronize();
      losses.push(graph.result.loss.item());
      draws.push(graph.result.noise.toArray().join());
    }
    expect(losses[4]).toBeLessThan(losses[0]);
    expect(new Set(draws).size).toBe(5);
    graph.dispose();
  });

  test('ordinary steps between captures, all on the side stream', () => {
    useSideStream('cuda');
    const weight = ones([8, 8], { device: 'cuda' }).requiresGrad_();
    const kept: Tensor[] = [];
    const step = (factor: number): void => {
      weight.grad = null;
      const loss = weight.square().sum().mul(factor);
      loss.backward();
      noGrad(() => weight.sub_(weight.grad!, 0.1));
      // Their graphs stay alive, as those of a program that frees nothing.
      kept.push(loss);
    };
    // Each step multiplies by 1 - 0.2 factor.
    const graphs = [1, 2].map((factor) => {
      for (let i = 0; i < 3; i++) step(factor);
      weight.grad = null;
      return CudaGraph.capture(() => step(factor), { device: 'cuda' });
    });
    for (const graph of graphs) graph.replay();
    const expected = 0.8 ** 4 * 0.6 ** 4;
    expect(weight.detach().sub(expected).abs().max().item()).toBeLessThan(1e-6);
    expect(isIdle('cuda')).toBe(true);
    for (const graph of graphs) graph.dispose();
  });

  test('results of a side stream are there on the default one', () => {
    const x = onSideStream(() => ones([512, 512], { device: 'cuda' }).cumsum(0).cumsum(1));
    expect(x.max().item()).toBe(512 * 512);
    expect(() => onSideStream(async () => Promise.resolve())).toThrow(TorchError);
  });

  test('what cannot be captured is an error that says so, and leaves the device usable', () => {
    const x = ones([4], { device: 'cuda' });
    expect(() => CudaGraph.capture(() => x.sum().item())).toThrow(TorchError);
    expect(x.sum().item()).toBe(4);
    const graph = CudaGraph.capture(() => x.add_(1), { warmUp: 1 });
    graph.replay();
    expect(x.toArray()).toEqual([3, 3, 3, 3]);
    graph.dispose();
  });

  test('a capture that fails leaves the device usable', () => {
    expect(() =>
      CudaGraph.capture(() => {
        throw new RangeError('mine');
      }),
    ).toThrow(RangeError);
    expect(ones([2], { device: 'cuda' }).sum().item()).toBe(2);
  });

  test('autocast on the device', () => {
    const a = ones([4, 4], { device: 'cuda' });
    expect(autocast('cuda', 'bf16', () => a.matmul(a)).dtype).toBe('bf16');
    expect(autocast('cuda', 'f16', () => a.matmul(a)).dtype).toBe('f16');
  });
});
