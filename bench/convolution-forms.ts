/**
 * Times convolutions and groups of linear layers as products (src/torch/nn: convolution-forms.ts, picture-stage.ts,
 * linear-forms.ts) beside the plain operators, forward and backward, in CRAB's sizes and those of selective
 * systems: on a GPU if there is one, in f32 (TF32) and bf16, and on the CPU. It says which form each layer takes.
 *
 *     npx tsx bench/convolution-forms.ts [--rounds 15] [--batch 1152] [--only stage] [--device cpu] [--json FILE]
 *
 * Both ways take turns; figures are medians, and the ratio is the median of the rounds' ratios. Prints a
 * Markdown table; exits with 1 if the form that a layer takes is the slower one in bf16 on a GPU, or on a CPU.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  autocast,
  bmm,
  conv2d,
  convTranspose2d,
  cudaIsAvailable,
  Generator,
  nn,
  rand,
  randn,
  scope,
  setAllowTf32,
  setCudnnBenchmark,
  synchronize,
  type Device,
  type Tensor,
} from '../src/torch/index.js';
import {
  doubledAsProduct,
  groupsAsProduct,
  halvedAsProduct,
  spreadMatrix,
  wholeAsProduct,
} from '../src/torch/nn/convolution-forms.js';
import { blocksAsProduct } from '../src/torch/nn/linear-forms.js';
import { pictureStage } from '../src/torch/nn/picture-stage.js';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    batch: { type: 'string' },
    /** Only cases with this in their names. */
    only: { type: 'string', default: '' },
    device: { type: 'string', default: cudaIsAvailable() ? 'cuda' : 'cpu' },
    json: { type: 'string' },
  },
});
const device = options.device as Device;
const batch = Number(options.batch ?? (device === 'cpu' ? 72 : 1152));
const isCpu = device === 'cpu';
/** Runs of one measurement. */
const REPEATS = isCpu ? 3 : 30;
const PRECISIONS = isCpu ? (['f32'] as const) : (['f32', 'bf16'] as const);
type Precision = (typeof PRECISIONS)[number];
if (!isCpu) {
  // As in training.
  setAllowTf32(true);
  setCudnnBenchmark(true);
}

interface Case {
  readonly name: string;
  /** Which of the two the layer takes on this device. */
  readonly takes: 'product' | 'plain';
  readonly inputs: readonly Tensor[];
  readonly product: (...inputs: Tensor[]) => Tensor;
  readonly plain: (...inputs: Tensor[]) => Tensor;
}

const generator = new Generator(device, 1);
const drawn = (...shape: number[]): Tensor => randn(shape, { generator }).requiresGrad_();
const last = (x: Tensor): Tensor => x.detach().contiguous('channelsLast').requiresGrad_();
const onGpu = isCpu ? 'plain' : 'product';

function cases(): Case[] {
  const images = randn([batch, 1, 64, 64], { generator });
  const spread = spreadMatrix(3, 3, 1).to({ device });
  const [m, width] = [8, 128];
  return [
    {
      name: 'one channel to 32, 64x64',
      takes: onGpu,
      inputs: [drawn(32, 1, 4, 4)],
      product: (weight) => halvedAsProduct(images, weight),
      plain: (weight) => conv2d(images, weight, null, { stride: 2, padding: 1 }),
    },
    {
      name: '32 channels to one, 64x64',
      takes: onGpu,
      inputs: [last(drawn(batch / 8, 32, 32, 32)), drawn(32, 1, 4, 4), drawn(1)],
      product: doubledAsProduct,
      plain: (x, weight, bias) => convTranspose2d(x, weight, bias, { stride: 2, padding: 1 }),
    },
    {
      name: 'a 4x4 map as a whole, 256 to 512',
      takes: 'product',
      inputs: [last(drawn(batch, 256, 4, 4)), last(drawn(512, 256, 4, 4))],
      product: (x, weight) => wholeAsProduct(x, weight, null),
      plain: (x, weight) => conv2d(x, weight),
    },
    {
      name: `${m} convolutions on 3x3 maps, ${width} to ${width}`,
      takes: onGpu,
      inputs: [drawn(m, batch / 2, 9 * width), drawn(m * width, width, 3, 3), drawn(m * width)],
      product: (x, weight, bias) => groupsAsProduct(x, weight, bias, spread),
      plain: (x, weight, bias) =>
        conv2d(x.reshape([batch / 2, m * width, 3, 3]), weight, bias, { padding: 1, groups: m }),
    },
    stageCase('SCL: first stage', {
      pictures: 2048,
      side: 160,
      channels: 16,
      kernel: 3,
      padding: 1,
    }),
    stageCase('LEN: first stage', {
      pictures: 512,
      side: 160,
      channels: 32,
      kernel: 3,
      padding: 0,
    }),
    stageCase('WReN: first stage', {
      pictures: 512,
      side: 80,
      channels: 32,
      kernel: 3,
      padding: 0,
    }),
    stageCase('CoPINet: first stage', {
      pictures: 512,
      side: 80,
      channels: 64,
      kernel: 7,
      padding: 3,
    }),
    normCase('SCL: normalisation and ReLU behind its second stage'),
    onePictureCase('windows of 16 pixels: by picture, and all at once'),
    relationsCase('SCL: relations'),
  ];
}

/** Pictures through a convolution with stride 2, batch normalisation and ReLU. */
function stageCase(
  name: string,
  sizes: { pictures: number; side: number; channels: number; kernel: number; padding: number },
): Case {
  const { side, channels, kernel, padding } = sizes;
  const pictures = rand([few(sizes.pictures), 1, side, side], { generator });
  const conv = placed(new nn.Conv2d(1, channels, kernel, { generator, stride: 2, padding }));
  const norm = placed(new nn.BatchNorm2d(channels));
  const { weight, bias, runningMean, runningVar, eps, momentum } = norm;
  if (!weight || !bias || !runningMean || !runningVar) throw new Error('a plain norm has all');
  const convolution = { weight: conv.weight, bias: conv.bias, stride: 2, padding };
  const normalisation = { weight, bias, runningMean, runningVar, eps, momentum };
  return {
    name,
    takes: onGpu,
    inputs: [...conv.parameters(), ...norm.parameters()],
    product: () => pictureStage(pictures, convolution, normalisation),
    plain: () => norm.forward(conv.forward(pictures)).relu(),
  };
}

/** Batch normalisation with the ReLU in it, and without. */
function normCase(name: string): Case {
  const maps = last(drawn(few(2048), 16, 40, 40));
  const together = placed(new nn.BatchNorm2d(16, { leakyRelu: 0 }));
  const separate = placed(new nn.BatchNorm2d(16));
  return {
    name,
    takes: 'product',
    inputs: [maps, ...together.parameters(), ...separate.parameters()],
    product: (x) => together.forward(x),
    plain: (x) => separate.forward(x).relu(),
  };
}

/** The product within SCL's first stage. */
function onePictureCase(name: string): Case {
  const pictures = few(2048);
  const windows = randn([pictures, 80 * 80, 16], { generator });
  const narrow = windows.to({ dtype: 'bf16' });
  const fitting = (): Tensor => (precision === 'bf16' ? narrow : windows);
  return {
    name,
    takes: 'product',
    inputs: [drawn(16, 16)],
    product: (weight) => bmm(fitting(), weight.expand([pictures, 16, 16])),
    plain: (weight) => fitting().flatten(0, 1).matmul(weight),
  };
}

/** Five experts, 9 to 64 to 32 to 1. */
function relationsCase(name: string): Case {
  const experts = 5;
  const values = drawn(few(128), 8, 80, 9);
  const layers = [
    [9, 64],
    [64, 32],
    [32, 1],
  ].map(([from, to]) => placed(new nn.BatchedLinear(experts, from, to, { generator })));
  return {
    name,
    takes: onGpu,
    inputs: [values, ...layers.flatMap((layer) => layer.parameters())],
    product: (x) =>
      layers.reduce(
        (y, layer, n) =>
          n === 0 ? layer.ofSame(y) : blocksAsProduct(y.relu(), layer.weight, layer.bias),
        x,
      ),
    plain: (x) => {
      const rows = x.flatten(0, 2).unsqueeze(0);
      const same = rows.expand([experts, ...rows.shape.slice(1)]);
      return layers
        .reduce((y, layer, n) => layer.forward(n === 0 ? y : y.relu()), same)
        .squeeze(2)
        .transpose(0, 1);
    },
  };
}

const few = (count: number): number => (isCpu ? Math.ceil(count / 128) : count);
const placed = <Layer extends nn.Module>(layer: Layer): Layer =>
  layer.to({ device, memoryFormat: 'channelsLast' });
/** Of the case that runs. */
let precision: Precision = 'f32';

/** Milliseconds of one run, forward and backward. */
function timed(run: (...inputs: Tensor[]) => Tensor, inputs: readonly Tensor[]): number {
  const once = (): void => {
    for (const input of inputs) input.grad = null;
    const compute = (): Tensor => run(...inputs);
    const y = precision === 'f32' ? compute() : autocast(device, precision, compute);
    y.sum().backward();
  };
  scope(once);
  if (!isCpu) synchronize(device);
  const start = performance.now();
  for (let i = 0; i < REPEATS; i++) scope(once);
  if (!isCpu) synchronize(device);
  return (performance.now() - start) / REPEATS;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const chosen = cases().filter(({ name }) => name.includes(options.only));
const results = PRECISIONS.flatMap((each) => chosen.map((one) => measured(one, each)));

function measured({ name, takes, inputs, product, plain }: Case, now: Precision) {
  precision = now;
  const rounds = Array.from({ length: Number(options.rounds) }, () => ({
    product: timed(product, inputs),
    plain: timed(plain, inputs),
  }));
  return {
    name,
    precision,
    takes,
    product: median(rounds.map((round) => round.product)),
    plain: median(rounds.map((round) => round.plain)),
    ratio: median(rounds.map((round) => round.plain / round.product)),
  };
}

console.log(`Batch ${batch} on ${device}, ms forward and backward.\n`);
console.log('| | precision | as a product | plain | times as fast | the layer takes |');
console.log('|---|---|---|---|---|---|');
for (const result of results) {
  const { product, plain, ratio } = result;
  const figures = [product, plain, ratio].map((value) => value.toFixed(2));
  const form = result.takes === 'product' ? 'the product' : 'the plain form';
  console.log(`| ${result.name} | ${result.precision} | ${figures.join(' | ')} | ${form} |`);
}
if (options.json !== undefined) {
  writeFileSync(options.json, JSON.stringify({ device, batch, results }, null, 2));
}
const slower = results.filter(
  ({ takes, ratio, precision: each }) =>
    each === PRECISIONS[PRECISIONS.length - 1] && (takes === 'product' ? ratio < 1 : ratio > 1),
);
for (const { name } of slower) console.log(`\n${name}: the layer takes the slower form.`);
process.exitCode = slower.length === 0 ? 0 : 1;
