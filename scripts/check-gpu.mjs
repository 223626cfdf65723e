// Whether our own kernels (native/*.cu) compute on this machine's GPU what they should: values and gradients, in f32
// and bf16, outside and inside a CUDA graph, on the maps that the systems have. Run it first on a new machine.
//
//   node scripts/check-gpu.mjs [--device cuda]      after `npm run build`; in a pack for training:
//   crab-training/bin/node crab-training/app/scripts/check-gpu.mjs
//
// It needs the built package and nothing else, and builds the addon if that is missing or old. What is right is said
// by libtorch's own operators in f64. On `--device cpu` the same runs with few maps, where libtorch's operators stand
// in for the kernels: that tests this program. Ends with 1 if anything is wrong.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { argumentsOf } from './arguments.mjs';

const { device } = argumentsOf({
  options: { device: { type: 'string', default: 'cuda' } },
}).values;
if (!/^(cpu|cuda(:\d+)?)$/.test(device)) {
  console.error(`--device ${device}: expected cpu, cuda or cuda:n`);
  process.exit(2);
}
const setup = fileURLToPath(new URL('setup-torch.mjs', import.meta.url));
if (process.env.CRAB_TORCH_ADDON === undefined) {
  execFileSync(process.execPath, [setup, '--if-needed'], { stdio: 'inherit' });
}

const torch = await import('../dist/torch/index.js');
const { pictureStage, stageByKernels } = await import('../dist/torch/nn/picture-stage.js');
const { grad, noGrad, randn, scope } = torch;

const onGpu = device !== 'cpu';
if (onGpu && !torch.cudaIsAvailable()) {
  console.error('There is no GPU here that libtorch can use.');
  process.exit(1);
}
const PRECISIONS = ['f32', 'bf16'];
/** The most that a result may be away, as a share of the largest; sums over all maps are in f32 either way. */
const MOST = { f32: 1e-4, bf16: 1e-2, sums: 1e-3 };
/** As near to a ReLU's kink as that, rounding decides whether a gradient passes: none is sent there. */
const KINK = { f32: 1e-3, bf16: 0.1 };
const MOMENTUM = 0.3;

/** Maps in the systems: channels and side, or side null for rows without one; how many maps a GPU is given. */
const NORMALISED = [
  ['SCL', 16, 80, 128],
  ['SCL', 32, 10, 2048],
  ['LSTM', 8, 39, 1024],
  ['WReN, LEN', 32, 79, 128],
  ['WReN, LEN', 32, 9, 4096],
  ['LEN', 512, null, 1152],
  ['CoPINet', 64, 20, 1024],
  ['CoPINet, SRAN', 128, 10, 1024],
  ['SRAN, ResNet', 256, 5, 1024],
  ['SRAN, ResNet', 512, 3, 1024],
  ['ResNet-50', 1024, 5, 256],
  ['ResNet-50', 2048, 3, 256],
  ['CRAB', 128, 16, 512],
  ['CRAB', 256, 1, 1152],
  ['any', 7, 9, 64],
];
/** Channels and side of maps that are pooled by 3 with stride 2. */
const POOLED = [
  ['ResNet, CoPINet, SRAN', 64, 40, 256],
  ['any', 8, 7, 64],
];
/** Channels, side of pictures, and geometry of first stages. */
const FIRST_STAGES = [
  ['SCL', 16, 160, { kernel: 3, stride: 2, padding: 1 }, 64],
  ['LEN', 32, 160, { kernel: 3, stride: 2, padding: 0 }, 64],
  ['WReN', 32, 80, { kernel: 3, stride: 2, padding: 0 }, 256],
  ['LSTM', 8, 80, { kernel: 3, stride: 2, padding: 0 }, 256],
  ['CoPINet', 64, 80, { kernel: 7, stride: 2, padding: 3 }, 128],
];

let wrong = 0;

/** How far a result is from what is right, as a share of the largest; Infinity if it is not finite. */
function distance(found, right) {
  return scope(() => {
    const most = found.detach().to({ dtype: 'f64' }).sub(right).abs().max().item();
    return Number.isFinite(most) ? most / (right.abs().max().item() + 1e-3) : Infinity;
  });
}

/** One line: the worst of some results, and whether it will do. */
function tell(name, results) {
  const shares = results.map(([what, share, most]) => ({ what, share, part: share / most }));
  const worst = shares.reduce((a, b) => (b.part > a.part ? b : a));
  const isRight = shares.every(({ part }) => part <= 1);
  if (!isRight) wrong++;
  const share = worst.share.toExponential(1);
  console.log(`${isRight ? 'right' : 'WRONG'}  ${name}: ${worst.what} differs by ${share}`);
}

/** Whether a CUDA graph of our own kernels gives for new inputs what an ordinary run gives, bit for bit. */
function checkGraph(name, inputs, run, isOwn) {
  if (!onGpu || !isOwn) return;
  const graph = torch.CudaGraph.capture(run, { warmUp: 2, device });
  scope(() => {
    noGrad(() => inputs.forEach((input) => input.copy_(input.flip([0]))));
    const expected = run();
    graph.replay();
    const differ = expected.filter((each, n) => each.ne(graph.result[n]).any().item() !== 0);
    if (differ.length === 0) return;
    wrong++;
    console.log(`WRONG  ${name}: ${differ.length} results of a CUDA graph are others`);
  });
  graph.dispose();
}

const generator = new torch.Generator(device, 1);

/** Numbers as the type holds them, in that type and in f64, both on the device. */
function both(shape, dtype, offset = 0, spread = 1) {
  const drawn = randn(shape, { generator }).mul(spread).add(offset).to({ dtype });
  const last = shape.length === 4 ? drawn.contiguous('channelsLast') : drawn;
  return [last, last.to({ dtype: 'f64' })].map((each) => each.detach().requiresGrad_());
}

/** A gradient as the type holds it, in that type and in f64, zero near a ReLU's kink. */
function gradientBehind(before, dtype) {
  const far = before.detach().abs().gt(KINK[dtype]);
  const layout = before.ndim === 4 ? 'channelsLast' : 'contiguous';
  const drawn = randn(before.shape, { generator }).mul(far);
  const gradient = drawn.to({ dtype }).contiguous(layout);
  return [gradient, gradient.to({ dtype: 'f64' })];
}

const statistics = (channels, dtype) =>
  [0.5, 1].map((value) => torch.full([channels], value, { dtype, device }));

/** Batch normalisation with a leaky ReLU, or with maps added before a ReLU. */
function checkNorm([system, channels, side, count], dtype, follows) {
  // On a CPU as few maps as leave a channel some hundred values.
  const maps = onGpu ? count : Math.ceil(300 / side ** 2);
  const shape = side === null ? [count, channels] : [maps, channels, side, side];
  const drawn = [
    both(shape, dtype, 2, 3),
    both([channels], 'f32', 1, 0.3),
    both([channels], 'f32', 0, 0.3),
    both(shape, dtype, 0.5),
  ];
  const adds = follows === 'added';
  const used = adds ? drawn : drawn.slice(0, 3);
  const rightInputs = used.map(([, right]) => right);
  const inputs = used.map(([input]) => input);
  const rightRunning = statistics(channels, 'f64');
  const options = { momentum: MOMENTUM };
  const [rightX, rightWeight, rightBias, rightResidual] = rightInputs;
  const training = { ...options, training: true };
  const plain = torch.batchNorm(rightX, ...rightRunning, rightWeight, rightBias, training);
  const before = adds ? plain.add(rightResidual) : plain;
  const rightY = adds || follows === 0 ? before.relu() : torch.leakyRelu(before, follows);
  const [backward, rightBackward] = gradientBehind(before, dtype);
  const expected = grad([rightY], rightInputs, { gradOutputs: [rightBackward] });
  const [start, running] = [0, 1].map(() => statistics(channels, 'f32'));
  const [x, weight, bias, residual] = inputs;
  const run = () => {
    noGrad(() => running.forEach((each, n) => each.copy_(start[n])));
    const y = adds
      ? torch.batchNormAddRelu(x, residual, ...running, weight, bias, options)
      : torch.batchNormLeakyRelu(x, ...running, weight, bias, { ...options, slope: follows });
    return [y.detach(), ...grad([y], inputs, { gradOutputs: [backward] })];
  };
  const [y, ...gradients] = run();
  const named = [
    ['gradient of x', MOST[dtype]],
    ['gradient of weight', MOST.sums],
    ['gradient of bias', MOST.sums],
    ['gradient of what is added', MOST[dtype]],
  ];
  const name = `${dtype} ${adds ? 'norm, added, ReLU' : `norm, slope ${follows}`} ${shape.join('x')} (${system})`;
  tell(name, [
    ['output', distance(y, rightY), MOST[dtype]],
    ...running.map((each, n) => ['running statistics', distance(each, rightRunning[n]), MOST.sums]),
    ...gradients.map((each, n) => [named[n][0], distance(each, expected[n]), named[n][1]]),
  ]);
  checkGraph(name, adds ? [x, residual] : [x], run, channels % 8 === 0);
}

/** Max pooling of whole numbers, so that many are equal and sums are exact. */
function checkPool([system, channels, side, count], dtype) {
  const maps = randn([onGpu ? count : 2, channels, side, side], { generator })
    .mul(4)
    .round();
  const placed = maps.to({ dtype }).contiguous('channelsLast');
  const [x, right] = [placed, placed.to({ dtype: 'f64' }).contiguous()].map((each) =>
    each.detach().requiresGrad_(),
  );
  const options = { stride: 2, padding: 1 };
  const rightY = torch.maxPool2d(right, 3, options);
  const backward = randn(rightY.shape, { generator }).mul(9).round().to({ dtype });
  const run = () => {
    const y = torch.maxPool2d(x, 3, options);
    return [y.detach(), ...grad([y], [x], { gradOutputs: [backward] })];
  };
  const [y, gradient] = run();
  const [expected] = grad([rightY], [right], { gradOutputs: [backward.to({ dtype: 'f64' })] });
  const name = `${dtype} max pool ${maps.shape.join('x')} (${system})`;
  tell(
    name,
    [
      ['output', distance(y, rightY), 0],
      ['gradient', distance(gradient, expected), 0],
    ].map(([what, share]) => [what, share, Number.MIN_VALUE]),
  );
  checkGraph(name, [x], run, true);
}

/** The first stage on pictures: convolution, normalisation and ReLU in one. */
function checkFirstStage([system, channels, side, { kernel, stride, padding }, count], dtype) {
  const shape = [onGpu ? count : 2, 1, side, side];
  // Mostly white, as matrices are.
  const pictures = randn(shape, { generator }).add(1).clamp(0, 1);
  const [weight, rightWeight] = both([channels, 1, kernel, kernel], 'f32', 0, 0.3);
  const [scale, rightScale] = both([channels], 'f32', 1, 0.3);
  const [shift, rightShift] = both([channels], 'f32', 0, 0.3);
  const rightRunning = statistics(channels, 'f64');
  const wide = pictures.to({ dtype: 'f64' });
  const rightMaps = torch.conv2d(wide, rightWeight, null, { stride, padding });
  const options = { training: true, momentum: MOMENTUM };
  const before = torch.batchNorm(rightMaps, ...rightRunning, rightScale, rightShift, options);
  const rightY = before.relu();
  const [backward, rightBackward] = gradientBehind(before, dtype);
  const [start, [runningMean, runningVar]] = [0, 1].map(() => statistics(channels, 'f32'));
  const norm = {
    ...{ weight: scale, bias: shift, runningMean, runningVar },
    ...{ eps: 1e-5, momentum: MOMENTUM },
  };
  const stage = kernel === 3 ? (...given) => stageByKernels(...given, dtype) : pictureStage;
  const inputs = [weight, scale, shift];
  const run = () => {
    noGrad(() => [runningMean, runningVar].forEach((each, n) => each.copy_(start[n])));
    const conv = { weight, bias: null, stride, padding };
    const y = torch.autocast(device, 'bf16', () => stage(pictures, conv, norm), dtype === 'bf16');
    return [y.detach(), ...grad([y], inputs, { gradOutputs: [backward] })];
  };
  const [y, ...gradients] = run();
  const expected = grad([rightY], [rightWeight, rightScale, rightShift], {
    gradOutputs: [rightBackward],
  });
  const name = `${dtype} first stage ${shape.join('x')} to ${channels} (${system})`;
  // By a product of matrices weights are rounded too.
  const sums = kernel === 3 ? MOST.sums : Math.max(MOST.sums, 2 * MOST[dtype]);
  const maps = kernel === 3 ? MOST[dtype] : 2 * MOST[dtype];
  tell(name, [
    ['output', distance(y, rightY), maps],
    ['running mean', distance(runningMean, rightRunning[0]), MOST.sums],
    ['running variance', distance(runningVar, rightRunning[1]), MOST.sums],
    ...gradients.map((each, n) => ['a gradient', distance(each, expected[n]), sums]),
  ]);
  checkGraph(name, [pictures], run, kernel === 3);
}

function check() {
  torch.setAllowTf32(false);
  if (onGpu) {
    torch.useSideStream(device);
    const hasKernels = torch.operator('crab::has_picture_kernels');
    const picture = torch.ones([1, 1, 8, 8], { device });
    if (hasKernels.call(picture, 16, 3, 2, 1) !== true) {
      console.log(
        'WRONG  the addon has no kernels of its own: nvcc was not found when it was built',
      );
      wrong++;
    }
  }
  for (const dtype of PRECISIONS) {
    for (const one of NORMALISED) {
      for (const follows of [0, 0.02, 'added']) scope(() => checkNorm(one, dtype, follows));
    }
    for (const one of POOLED) scope(() => checkPool(one, dtype));
    for (const one of FIRST_STAGES) scope(() => checkFirstStage(one, dtype));
  }
}

check();
console.log(wrong === 0 ? 'All kernels are right.' : `${wrong} results are WRONG.`);
process.exitCode = wrong === 0 ? 0 : 1;
