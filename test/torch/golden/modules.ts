/**
 * The modules and optimisers of modules.json by our own classes. The other side of these tables is
 * MODULES and `add_optimizer` in make_golden.py.
 */
import { nn, optim } from '../../../src/torch/index.js';
import type { Generator, Tensor } from '../../../src/torch/index.js';

export interface ModuleCase {
  readonly id: string;
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly inputs: readonly string[];
  readonly mode?: 'eval';
  readonly repeats?: number;
}

export interface OptimizerCase {
  readonly id: string;
  readonly kind: 'SGD' | 'RMSprop' | 'Adam' | 'AdamW';
  readonly options: Readonly<Record<string, unknown>> & { readonly lr: number };
}

export interface ModulesFile {
  readonly modules: readonly ModuleCase[];
  readonly optimizers: readonly OptimizerCase[];
  readonly optimizerProblem: { readonly steps: number; readonly keep: readonly number[] };
  readonly clipping: { readonly maxNorms: readonly number[]; readonly maxValue: number };
}

/** A module and how it is run: inputs to all outputs that PyTorch gives. */
export interface BuiltModule {
  readonly module: nn.Module;
  readonly run: (inputs: Tensor[]) => Tensor[];
}

type Options = Readonly<Record<string, unknown>> & { readonly generator: Generator };

function layer(module: nn.Layer): BuiltModule {
  return { module, run: ([x]) => [module.forward(x)] };
}

const size = (options: Options, name: string): number => options[name] as number;
const kernel = (options: Options): number | [number, number] =>
  options.kernelSize as number | [number, number];

const builders: Readonly<Record<string, (options: Options) => BuiltModule>> = {
  Linear: (o) => layer(new nn.Linear(size(o, 'inFeatures'), size(o, 'outFeatures'), o)),
  Conv2d: (o) => layer(new nn.Conv2d(size(o, 'inChannels'), size(o, 'outChannels'), kernel(o), o)),
  ConvTranspose2d: (o) =>
    layer(new nn.ConvTranspose2d(size(o, 'inChannels'), size(o, 'outChannels'), kernel(o), o)),
  BatchNorm2d: (o) => layer(new nn.BatchNorm2d(size(o, 'numFeatures'), o as nn.BatchNorm2dOptions)),
  LayerNorm: (o) =>
    layer(new nn.LayerNorm(o.normalizedShape as number[], o as nn.LayerNormOptions)),
  Embedding: (o) => layer(new nn.Embedding(size(o, 'numEmbeddings'), size(o, 'embeddingDim'), o)),
  MultiheadAttention: (o) => {
    const module = new nn.MultiheadAttention(size(o, 'embedDim'), size(o, 'numHeads'), o);
    const run = ([query, key, value]: (Tensor | undefined)[]): Tensor[] => {
      const { output, weights } = module.attend(query as Tensor, key, value);
      return [output, weights];
    };
    return { module, run };
  },
  LSTM: (o) => {
    const module = new nn.LSTM(size(o, 'inputSize'), size(o, 'hiddenSize'), o);
    const run = ([x]: Tensor[]): Tensor[] => {
      const { output, hidden, cell } = module.run(x);
      return [output, hidden, cell];
    };
    return { module, run };
  },
  Sequential: (o) =>
    layer(
      new nn.Sequential(
        new nn.Conv2d(1, 2, 3, { ...o, stride: 1, padding: 1 }),
        new nn.BatchNorm2d(2),
        new nn.ReLU(),
        new nn.Sequential(new nn.Flatten(), new nn.Linear(72, 3, o), new nn.Sigmoid()),
      ),
    ),
  Dropout: (o) => layer(new nn.Dropout(size(o, 'p'), o)),
};

export function buildModule({ kind, options }: ModuleCase, generator: Generator): BuiltModule {
  return builders[kind]({ ...options, generator });
}

/** An optimiser by PyTorch's options; `lr` is our `learningRate`. */
export function buildOptimizer(
  { kind, options: { lr, ...rest } }: OptimizerCase,
  parameters: readonly Tensor[],
  extra: { readonly capturable?: boolean } = {},
): optim.Optimizer {
  const options = { ...rest, ...extra, learningRate: lr };
  switch (kind) {
    case 'SGD':
      return new optim.SGD(parameters, options);
    case 'RMSprop':
      return new optim.RMSprop(parameters, options);
    case 'Adam':
      return new optim.Adam(parameters, options);
    case 'AdamW':
      return new optim.AdamW(parameters, options);
  }
}
