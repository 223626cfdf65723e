/**
 * What ranks of a group do in tests, each with inputs of its own, and what one process with all of their
 * inputs does, as the reference.
 */
import type { ProcessGroup } from '../../src/torch/index.js';
import {
  cat,
  full,
  Generator,
  GradientReducer,
  nn,
  noGrad,
  randn,
  scope,
  tensor,
  zeros,
  type Tensor,
} from '../../src/torch/index.js';

/** Inputs of a rank: rank r has r + 2 rows, so that ranks are not alike. */
const rowsOf = (rank: number): number => rank + 2;
const inputOf = (rank: number, shape: readonly number[]): Tensor =>
  randn([rowsOf(rank), ...shape], { generator: new Generator('cpu', 40 + rank), dtype: 'f64' });

export const RANKS = 3;
const allRanks = Array.from({ length: RANKS }, (_, rank) => rank);

/** What a rank holds: its own inputs, or those of all ranks where this is the reference. */
const inputsHere = (group: ProcessGroup | null, shape: readonly number[]): Tensor =>
  group === null
    ? cat(
        allRanks.map((rank) => inputOf(rank, shape)),
        0,
      )
    : inputOf(group.rank, shape);

/** Mean over ranks of gradients of a small network, in buckets; three passes. */
function reduced(group: ProcessGroup | null, bucketBytes: number) {
  const generator = new Generator('cpu', 5);
  const layers = [4, 8, 6, 1].slice(1).map((out, i) => {
    const layer = new nn.Linear([4, 8, 6][i], out, { generator });
    return layer.to({ dtype: 'f64' });
  });
  // One without elements, which has no place in memory.
  const none = nn.parameter(zeros([0], { dtype: 'f64' }));
  const parameters = [none, ...layers.flatMap((layer) => layer.parameters())];
  const reducer = group && new GradientReducer(group, parameters, { bucketBytes });
  for (let pass = 0; pass < 3; pass++) {
    scope(() => {
      for (const layer of layers) layer.zeroGrad();
      none.grad = null;
      reducer?.begin();
      const lossOf = (rank: number): Tensor => {
        let x = inputOf(rank, [4]).add(pass);
        for (const layer of layers) x = layer.forward(x).tanh();
        return x.square().sum().add(none.sum());
      };
      const losses = group === null ? allRanks.map(lossOf) : [lossOf(group.rank)];
      losses
        .reduce((a, b) => a.add(b))
        .div(group === null ? RANKS : 1)
        .backward();
    });
  }
  const gradients = parameters.map((each) => each.grad?.toArray());
  return { gradients, buckets: reducer?.buckets ?? 0 };
}

/** `group` null: the reference, in one process with all ranks' inputs. */
export const SCENARIOS = {
  collectives: async (group: ProcessGroup | null) => {
    if (group === null) return {};
    const sum = tensor([group.rank + 1, 10]);
    group.allReduce_(sum);
    const least = group.allReduce_(tensor([group.rank + 3], { dtype: 'i64' }), 'min');
    const most = group.allReduce_(tensor([group.rank + 3], { dtype: 'f64' }), 'max');
    const product = group.allReduce_(tensor([group.rank + 1], { dtype: 'i32' }), 'product');
    const shared = group.broadcast_(tensor([group.rank * 7], { dtype: 'u8' }), group.size - 1);
    const gathered = group.allGather(tensor([[group.rank, 2]]).transpose(0, 1));
    await group.barrier();
    return {
      sum: sum.toArray(),
      least: least.item(),
      most: most.item(),
      product: product.item(),
      shared: shared.item(),
      gathered: gathered.map((each) => each.toNested()),
    };
  },

  /** sum of pairwise products, in which every rank's rows meet every other's; [4, n, 2] along axis 1. */
  gather: (group: ProcessGroup | null) => {
    const own = (rank: number): Tensor =>
      randn([4, 3, 2], { generator: new Generator('cpu', 60 + rank), dtype: 'f64' });
    const here = group === null ? cat(allRanks.map(own), 1) : own(group.rank);
    here.requiresGrad_();
    const all = group === null ? here : group.gather(here, -2);
    const pairs = here.unsqueeze(2).sub(all.unsqueeze(1)).sum(3).tanh(); // [4, n, N]
    pairs.mul(pairs).sum().backward();
    return { all: all.toArray(), gradient: here.grad?.toArray() };
  },

  batchNorm: (group: ProcessGroup | null) => {
    const cases = [
      { shape: [3, 4, 5], channelsLast: true, slope: null, affine: true },
      { shape: [3, 4, 5], channelsLast: true, slope: 0.2, affine: true },
      { shape: [3, 4, 5], channelsLast: false, slope: 0, affine: true },
      { shape: [3, 4, 5], channelsLast: true, slope: 0.2, affine: false },
      { shape: [3], channelsLast: false, slope: null, affine: true },
      { shape: [3], channelsLast: false, slope: 0, affine: true },
    ];
    const results = cases.map(({ shape, channelsLast, slope, affine }) => {
      const leakyRelu = slope ?? undefined;
      const norm = new nn.BatchNorm2d(3, { dtype: 'f64', affine, leakyRelu });
      noGrad(() => {
        norm.weight?.copy_(tensor([0.5, -1, 2]));
        norm.bias?.copy_(tensor([0.1, 0.2, 0.3]));
      });
      norm.group = group;
      let x = inputsHere(group, shape).mul(3).add(2);
      if (channelsLast) x = x.contiguous('channelsLast');
      x.requiresGrad_();
      const y = norm.forward(norm.forward(x).tanh());
      y.sigmoid().mul(y).sum().backward();
      return {
        y: y.toNested(),
        gradient: x.grad?.toNested(),
        weight: norm.weight?.grad?.toArray() ?? [0, 0, 0],
        bias: norm.bias?.grad?.toArray() ?? [0, 0, 0],
        mean: norm.runningMean?.toArray(),
        variance: norm.runningVar?.toArray(),
      };
    });
    return { results };
  },

  /** Running statistics differ, the rank in the middle has no rows; and then all ranks together have one. */
  unalikeNorm: (group: ProcessGroup | null) => {
    const start = group === null ? 0 : 3 * group.rank;
    const results = [true, false].map((channelsLast) => {
      const norm = new nn.BatchNorm2d(3, { dtype: 'f64', leakyRelu: 0.2 });
      noGrad(() => norm.runningMean?.fill_(start));
      norm.group = group;
      const own = (rank: number): Tensor => {
        const x = inputOf(rank, [3, 4, 5]).narrow(0, 0, rank === 1 ? 0 : rowsOf(rank));
        return channelsLast ? x.contiguous('channelsLast') : x;
      };
      const x = group === null ? cat([own(0), own(2)], 0) : own(group.rank);
      x.requiresGrad_();
      const y = norm.forward(x);
      y.sigmoid().mul(y).sum().backward();
      return {
        y: y.toNested(),
        gradient: x.grad?.toNested(),
        bias: norm.bias?.grad?.toArray(),
        mean: norm.runningMean?.sub(0.9 * start).toArray(),
        variance: norm.runningVar?.toArray(),
      };
    });
    let failure = '';
    try {
      const norm = new nn.BatchNorm2d(3);
      norm.group = group;
      norm.forward(randn([group?.rank === 0 ? 1 : 0, 3], { generator: new Generator('cpu', 1) }));
    } catch (error) {
      failure = (error as Error).message;
    }
    return { results, failure };
  },

  /** Every gradient in a bucket of its own, small ones together beside large ones, and all together. */
  reducer: (group: ProcessGroup | null) =>
    [16, 2048, 2 ** 20].map((bucketBytes) => reduced(group, bucketBytes)),

  /**
   * Gradients that lie in memory which others still read: the derivative of a reshape hands them on. Three
   * passes, each with the mean of both gradients.
   */
  handedOn: (group: ProcessGroup | null) => {
    if (group === null) return [];
    const [p, q] = [0, 1].map((value) => nn.parameter(full([64, 64], value, { dtype: 'f64' })));
    const reducer = new GradientReducer(group, [p, q], { bucketBytes: 16 });
    const passes = [0, 1, 2].map(() => {
      p.grad = q.grad = null;
      reducer.begin();
      const flat = q.mul(3).reshape([-1]);
      flat
        .add(p.reshape([-1]))
        .mul(group.rank + 1)
        .sum()
        .backward();
      return [p, q].map(({ grad }) => grad?.mean().item());
    });
    reducer.dispose();
    return passes;
  },

  /** A pass that fails when a part of it is under way, and the next one: gradients of three parameters. */
  afterFailure: async (group: ProcessGroup | null) => {
    if (group === null) return [];
    const large = nn.parameter(zeros([64, 64]));
    const small = [0, 1].map(() => nn.parameter(zeros([8])));
    const reducer = new GradientReducer(group, [large, ...small], { bucketBytes: 1024 });
    const found: unknown[] = [];
    for (let pass = 0; pass < 4; pass++) {
      const fails = pass === 2;
      for (const each of small) each.grad = null;
      if (!fails) large.grad = null;
      // One rank is late: what the others have under way goes on into the next pass.
      if (fails && group.rank > 0) await new Promise((resolve) => setTimeout(resolve, 500));
      reducer.begin();
      const factor = (group.rank + 1) * (fails ? 100 : 1);
      const sums = [large, ...small].map((each) => each.mul(factor).sum());
      try {
        sums.reduce((a, b) => a.add(b)).backward();
        found.push([large, ...small].map(({ grad }) => grad?.mean().item()));
      } catch (error) {
        found.push((error as Error).message);
      }
    }
    reducer.dispose();
    return found;
  },

  /** What is not allowed is said, and the group goes on working. */
  misuse: (group: ProcessGroup | null) => {
    if (group === null) return {};
    const generator = new Generator('cpu', 5);
    const used = new nn.Linear(2, 1, { generator });
    const unused = new nn.Linear(2, 1, { generator });
    const messages: string[] = [];
    const attempt = (fn: () => void): void => {
      try {
        fn();
        messages.push('');
      } catch (error) {
        messages.push(`${(error as Error).name}: ${(error as Error).message}`);
      }
    };
    const pass = (reducer: GradientReducer): void => {
      reducer.begin();
      used
        .forward(tensor([[1, 2]]))
        .sum()
        .backward();
    };
    const partial = new GradientReducer(group, [...used.parameters(), ...unused.parameters()]);
    attempt(() => pass(partial));
    partial.dispose();
    used.zeroGrad();
    const reducer = new GradientReducer(group, used.parameters());
    attempt(() => pass(reducer));
    attempt(() => pass(reducer)); // without zeroGrad
    attempt(() => group.allReduce_(tensor([1]), 'mean' as 'sum'));
    attempt(() => group.allReduce_(tensor([1, 2, 3, 4]).reshape([2, 2]).narrow(1, 0, 1)));
    used.zeroGrad();
    attempt(() => pass(reducer));
    reducer.dispose();
    used.zeroGrad();
    const oneByOne = new GradientReducer(group, used.parameters(), { bucketBytes: 16 });
    attempt(() => pass(oneByOne));
    attempt(() => pass(oneByOne)); // without zeroGrad
    oneByOne.dispose();
    attempt(() => void new GradientReducer(group, [used.weight, used.weight]));
    const sum = group.allReduce_(tensor([1])).item();
    group.dispose();
    attempt(() => void group.allGather(tensor([1])));
    return { messages, sum };
  },

  /** The last rank hangs instead of taking part. */
  hang: async (group: ProcessGroup | null) => {
    if (group === null) return {};
    if (group.rank === group.size - 1) await new Promise((resolve) => setTimeout(resolve, 60_000));
    const start = performance.now();
    let failure = '';
    try {
      group.allReduce_(tensor([1]));
    } catch (error) {
      failure = `${(error as Error).name}: ${(error as Error).message}`;
    }
    return { failure, seconds: (performance.now() - start) / 1000 };
  },
};
