/**
 * Times convolutions as products (src/torch/nn/convolution-forms.ts) beside libtorch's convolutions, forward
 * and backward, in CRAB's sizes: on a GPU if there is one, in bf16, and on the CPU. It says which form each
 * layer takes there.
 *
 *     npx tsx bench/convolution-forms.ts [--rounds 15] [--batch 1152] [--device cpu] [--json FILE]
 *
 * Both ways take turns; figures are medians, and the ratio is the median of the rounds' ratios. Prints a
 * Markdown table; exits with 1 if the form that a layer takes is the slower one.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  autocast,
  conv2d,
  convTranspose2d,
  cudaIsAvailable,
  Generator,
  randn,
  scope,
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

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    batch: { type: 'string' },
    device: { type: 'string', default: cudaIsAvailable() ? 'cuda' : 'cpu' },
    json: { type: 'string' },
  },
});
const device = options.device as Device;
const batch = Number(options.batch ?? (device === 'cpu' ? 72 : 1152));
/** Runs of one measurement. */
const REPEATS = device === 'cpu' ? 3 : 30;

interface Case {
  readonly name: string;
  /** Which of the two the layer takes on this device. */
  readonly takes: 'product' | 'convolution';
  readonly inputs: readonly Tensor[];
  readonly product: (...inputs: Tensor[]) => Tensor;
  readonly convolution: (...inputs: Tensor[]) => Tensor;
}

const generator = new Generator(device, 1);
const drawn = (...shape: number[]): Tensor => randn(shape, { generator }).requiresGrad_();
const last = (x: Tensor): Tensor => x.detach().contiguous('channelsLast').requiresGrad_();
const onGpu = device === 'cpu' ? 'convolution' : 'product';

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
      convolution: (weight) => conv2d(images, weight, null, { stride: 2, padding: 1 }),
    },
    {
      name: '32 channels to one, 64x64',
      takes: onGpu,
      inputs: [last(drawn(batch / 8, 32, 32, 32)), drawn(32, 1, 4, 4), drawn(1)],
      product: doubledAsProduct,
      convolution: (x, weight, bias) => convTranspose2d(x, weight, bias, { stride: 2, padding: 1 }),
    },
    {
      name: 'a 4x4 map as a whole, 256 to 512',
      takes: 'product',
      inputs: [last(drawn(batch, 256, 4, 4)), last(drawn(512, 256, 4, 4))],
      product: (x, weight) => wholeAsProduct(x, weight, null),
      convolution: (x, weight) => conv2d(x, weight),
    },
    {
      name: `${m} convolutions on 3x3 maps, ${width} to ${width}`,
      takes: onGpu,
      inputs: [drawn(m, batch / 2, 9 * width), drawn(m * width, width, 3, 3), drawn(m * width)],
      product: (x, weight, bias) => groupsAsProduct(x, weight, bias, spread),
      convolution: (x, weight, bias) =>
        conv2d(x.reshape([batch / 2, m * width, 3, 3]), weight, bias, { padding: 1, groups: m }),
    },
  ];
}

/** Milliseconds of one run, forward and backward. */
function timed(run: (...inputs: Tensor[]) => Tensor, inputs: readonly Tensor[]): number {
  const once = (): void => {
    for (const input of inputs) input.grad = null;
    const y = device === 'cpu' ? run(...inputs) : autocast(device, 'bf16', () => run(...inputs));
    y.sum().backward();
  };
  scope(once);
  if (device !== 'cpu') synchronize(device);
  const start = performance.now();
  for (let i = 0; i < REPEATS; i++) scope(once);
  if (device !== 'cpu') synchronize(device);
  return (performance.now() - start) / REPEATS;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const results = cases().map(({ name, takes, inputs, product, convolution }) => {
  const rounds = Array.from({ length: Number(options.rounds) }, () => ({
    product: timed(product, inputs),
    convolution: timed(convolution, inputs),
  }));
  return {
    name,
    takes,
    product: median(rounds.map((round) => round.product)),
    convolution: median(rounds.map((round) => round.convolution)),
    ratio: median(rounds.map((round) => round.convolution / round.product)),
  };
});

console.log(`Batch ${batch} on ${device}, ms forward and backward.\n`);
console.log('| | as a product | as a convolution | times as fast | the layer takes |');
console.log('|---|---|---|---|---|');
for (const { name, takes, product, convolution, ratio } of results) {
  const figures = [product, convolution, ratio].map((value) => value.toFixed(2));
  console.log(`| ${name} | ${figures.join(' | ')} | the ${takes} |`);
}
if (options.json !== undefined) {
  writeFileSync(options.json, JSON.stringify({ device, batch, results }, null, 2));
}
const slower = results.filter(({ takes, ratio }) => (takes === 'product' ? ratio < 1 : ratio > 1));
for (const { name } of slower) console.log(`\n${name}: the layer takes the slower form.`);
process.exitCode = slower.length === 0 ? 0 : 1;
