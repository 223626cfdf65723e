/**
 * The steps that bench/torch.mjs times, on the built package: the same networks, batches and order of
 * calls as in torch_twin.py.
 */
import * as torch from '../dist/torch/index.js';

const { nn } = torch;

/** M = 4 concepts of d_z = 32. */
const conceptFeatures = 4 * 32;

function mlp(options) {
  return new nn.Sequential(
    new nn.Linear(256, 512, options),
    new nn.ReLU(),
    new nn.Linear(512, 512, options),
    new nn.ReLU(),
    new nn.Linear(512, 10, options),
  );
}

/** The paper's Appendix C. */
function encoder(options) {
  const halving = { ...options, stride: 2, padding: 1 };
  const sizes = [1, 32, 64, 128, 256];
  const layers = sizes
    .slice(1)
    .flatMap((channels, i) => [
      new nn.Conv2d(sizes[i], channels, 4, halving),
      new nn.BatchNorm2d(channels, options),
      new nn.ReLU(),
    ]);
  layers.push(new nn.Conv2d(256, 512, 4, options), new nn.BatchNorm2d(512, options), new nn.ReLU());
  return new nn.Sequential(
    ...layers,
    new nn.Flatten(),
    new nn.Linear(512, conceptFeatures, options),
  );
}

/** The paper's Appendix C. */
function decoder(options) {
  const doubling = { ...options, stride: 2, padding: 1 };
  const block = (from, to, kernel, geometry) => [
    new nn.ConvTranspose2d(from, to, kernel, geometry),
    new nn.BatchNorm2d(to, options),
    new nn.LeakyReLU(0.02),
  ];
  return new nn.Sequential(
    ...block(conceptFeatures, 128, 1, options),
    ...block(128, 64, 4, options),
    ...block(64, 64, 4, doubling),
    ...block(64, 32, 4, doubling),
    ...block(32, 32, 4, doubling),
    new nn.ConvTranspose2d(32, 1, 4, doubling),
    new nn.Sigmoid(),
  );
}

const networks = {
  mlp: { build: mlp, shape: [256] },
  encoder: { build: encoder, shape: [1, 64, 64] },
  decoder: { build: decoder, shape: [conceptFeatures, 1, 1] },
};

function tinyStep(device) {
  const a = torch.ones([1], { device });
  const b = torch.ones([1], { device });
  return () =>
    torch.scope(() => {
      for (let i = 0; i < 100; i += 1) a.add(b);
    });
}

function networkStep(name, batch, device) {
  const { build, shape } = networks[name];
  const generator = new torch.Generator('cpu', 1);
  const module = build({ generator, device });
  const x = torch
    .rand([batch, ...shape], { generator })
    .to({ device })
    .requiresGrad_();
  const leaves = [x, ...module.parameters()];
  return () =>
    torch.scope(() => {
      for (const leaf of leaves) leaf.grad = null;
      module.forward(x).square().mean().backward();
    });
}

/** RMSprop, the paper's optimiser, on the encoder's parameters. */
function optimizerStep(device, capturable) {
  const parameters = encoder({ generator: new torch.Generator('cpu', 1), device }).parameters();
  for (const parameter of parameters) parameter.grad = torch.fullLike(parameter, 1e-3);
  const optimizer = new torch.optim.RMSprop(parameters, { learningRate: 1e-4, capturable });
  return () => optimizer.step();
}

/** The step as a CUDA graph, warmed up first. */
function captured(step) {
  const graph = torch.CudaGraph.capture(step, { warmUp: 3 });
  return () => graph.replay();
}

function build({ name, batch, device, mode }) {
  if (name === 'tiny') return tinyStep(device);
  if (name === 'rmsprop') return optimizerStep(device, mode === 'graph');
  return networkStep(name, batch, device);
}

const steps = new Map();

/** A step by the description of its case, built and warmed up once. */
export function stepOf({ name, batch, device, mode }) {
  const key = `${name}/${batch}/${device}/${mode}`;
  if (!steps.has(key)) {
    let step = build({ name, batch, device, mode });
    if (mode === 'graph') step = captured(step);
    for (let i = 0; i < 3; i += 1) step();
    steps.set(key, step);
  }
  return steps.get(key);
}

// As torch_twin.py does.
if (torch.cudaIsAvailable()) torch.setAllowTf32(true);

export const runtime = {
  setThreads(threads) {
    if (torch.getNumThreads() !== threads) torch.setNumThreads(threads);
  },
  synchronize(device) {
    if (device === 'cuda') torch.synchronize();
  },
  describe() {
    const { info, reason } = torch.torchInfo();
    if (info === null) throw new Error(reason);
    const { version, blas, blasLibraries, devices } = info;
    return { version, blas, blasLibraries, cuda: devices[0]?.name ?? null };
  },
};
