/** What the solver bench runs: problems, the model on libtorch, and bundles of random weights. */
import path from 'node:path';
import {
  problemToBatch,
  sampleProblem,
  SMALL_PIXELS,
  type Configuration,
} from '../src/matrix/index.js';
import {
  compactNetworks,
  crabConfig,
  CrabModel,
  networkFiles,
  readNetworks,
  type CrabConfig,
} from '../src/models/index.js';
import { writeBundle, type SolverCore } from '../src/solver/node.js';
import { Generator, scope, setNumThreads, tensor } from '../src/torch/index.js';
import { randomBundle, randomState, tinyConfig } from '../test/solver/random-model.js';

/** Pictures of a problem as bytes, 255 = white. */
export interface DrawnProblem {
  readonly panels: readonly Uint8Array[];
  readonly candidates: readonly Uint8Array[];
}

const picturesOf = (bytes: Uint8Array, count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, i) => bytes.subarray(i * SMALL_PIXELS, (i + 1) * SMALL_PIXELS));

export function drawProblems(
  { configuration, noisy }: { readonly configuration: Configuration; readonly noisy: boolean },
  count: number,
): DrawnProblem[] {
  return Array.from({ length: count }, (_, index) => {
    const problem = sampleProblem({ configuration, noisy, variant: 'raven', seed: 1, index });
    const { panel, selection } = problemToBatch(problem);
    return { panels: picturesOf(panel, 8), candidates: picturesOf(selection, 8) };
  });
}

/** Something that chooses a candidate for each of some problems. */
export type Chooser = (problems: readonly DrawnProblem[]) => Promise<readonly number[]>;

/** Through the solver, as a program uses it that wants no pictures. */
export const bySolver =
  (solver: SolverCore): Chooser =>
  async (problems) => {
    const answers = await solver.solveAll(problems, { images: false });
    const asked = answers.map((answer, n) => ({ answer, candidates: problems[n].candidates }));
    return (await solver.chooseAll(asked)).map(({ index }) => index);
  };

/** The model on libtorch with the same random weights as the bundles. */
export function torchModel(config: CrabConfig, threads: number): CrabModel {
  setNumThreads(threads);
  const model = new CrabModel(config.network, { generator: new Generator('cpu', 0) });
  const tensors = new Map(model.stateDict());
  scope(() => {
    for (const [name, { data, shape }] of randomState(config.network)) {
      tensors.set(name, tensor(data, { dtype: 'f32' }).reshape([...shape]));
    }
    model.loadStateDict(tensors);
  });
  model.eval();
  return model;
}

export const byTorch =
  (model: CrabModel): Chooser =>
  (problems) => {
    const pixels = (bytes: Uint8Array, panels: number) =>
      tensor(bytes, { dtype: 'u8' })
        .reshape([problems.length, panels, 64, 64])
        .to({ dtype: 'f32' })
        .div(255);
    const join = (lists: readonly (readonly Uint8Array[])[]) =>
      new Uint8Array(Buffer.concat(lists.flat()));
    const blank = new Uint8Array(SMALL_PIXELS);
    const panels = join(problems.map((problem) => [...problem.panels, blank]));
    const candidates = join(problems.map((problem) => problem.candidates));
    return Promise.resolve(
      scope(() =>
        model
          .score(
            pixels(panels, 9),
            problems.map(() => [8]),
            pixels(candidates, 8).unsqueeze(2),
          )
          .argmax(1)
          .toArray(),
      ),
    );
  };

/** Writes a bundle of random weights, compact or in f32, below a folder; gives its place. */
export async function writeRandomBundle(
  configuration: Configuration,
  compact: boolean,
  folder: string,
): Promise<string> {
  const { network } = crabConfig('crab', configuration);
  const networks = readNetworks(network, randomState(network));
  const chosen = compact
    ? await compactNetworks(networks, { configuration, noisy: false, problems: 256 })
    : networks;
  const weights = compact ? 'int8' : 'f32';
  const files = networkFiles(chosen, weights);
  const place = path.join(folder, `${configuration}-${weights}`);
  // Of the small bundle only the manifest is wanted.
  const { manifest } = randomBundle(tinyConfig(configuration));
  const { concepts, conceptSize, ruleSize } = network;
  const sizes = { concepts, conceptSize, ruleSize };
  await writeBundle(
    place,
    { ...manifest, sizes, compact, weights },
    new Map([
      ['encoder.onnx', files.encoder],
      ['reasoner.onnx', files.reasoner],
      ['decoder.onnx', files.decoder],
    ]),
  );
  return place;
}
