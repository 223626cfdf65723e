/**
 * Time of one training step of CRAB on the CPU, beside the authors' structure (reference.ts) in the
 * same process, alternating: `released` preset, batch 32, RMSprop included, no rule prior. The authors'
 * encoder and decoder are plain lists of libtorch's layers, with the biases that norms take out again.
 *
 *     npx tsx bench/model/step.ts [--concepts 4,8] [--rounds 9] [--threads 1] [--json FILE]
 *
 * Prints a Markdown table of medians: wall time, and processor time, which other programs disturb less. A
 * ratio is the median over the rounds, in which both run one after the other. The bars: 1.6 times as fast at
 * M=4 and 1.8 times at M=8, by processor time.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  CrabModel,
  crabConfig,
  drawNoise,
  evaluateObjective,
  weightedLoss,
  type CrabConfig,
  type Noise,
  type ObjectiveTerms,
  type TargetedBatch,
} from '../../src/models/index.js';
import {
  Generator,
  optim,
  rand,
  scope,
  setNumThreads,
  type Tensor,
} from '../../src/torch/index.js';
import { ReferenceCrab } from './reference.js';
import { drawnTargets } from './targets.js';

const BATCH = 32;
const BARS = new Map([
  [4, 1.6],
  [8, 1.8],
]);

/** One way to do the step. */
interface Contender {
  readonly name: string;
  readonly parameters: readonly Tensor[];
  readonly evaluate: (batch: TargetedBatch, noise: Noise) => ObjectiveTerms;
}

interface Sample {
  /** Milliseconds of forward and backward, and of the optimiser. */
  readonly passes: number;
  readonly optimizer: number;
  /** Milliseconds of processor time of the whole step. */
  readonly processor: number;
}

interface Row extends Sample {
  readonly concepts: number;
  readonly name: string;
  /** One for each round. */
  readonly samples: readonly Sample[];
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1];

const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

function contenders(config: CrabConfig): Contender[] {
  const { sigmaX, sigmaZ } = config.objective;
  const model = (seed: number): CrabModel =>
    new CrabModel(config.network, { generator: new Generator('cpu', seed) });
  const ours = model(1);
  const reference = new ReferenceCrab(model(2), {
    generator: new Generator('cpu', 3),
    plainDecoder: true,
  });
  return [
    {
      name: 'ours',
      parameters: ours.parameters(),
      evaluate: (batch, noise) =>
        evaluateObjective(ours, batch, { noise, sigmaX, sigmaZ, prior: null }).terms,
    },
    {
      name: "authors' structure",
      parameters: reference.parameters(),
      evaluate: (batch, noise) => reference.evaluate(batch, noise, sigmaX, sigmaZ),
    },
  ];
}

function measure(config: CrabConfig, rounds: number): Row[] {
  const generator = new Generator('cpu', 5);
  const panels = rand([BATCH, 9, 64, 64], { generator });
  const racers = contenders(config).map((each) => ({
    ...each,
    optimizer: new optim.RMSprop(each.parameters, { learningRate: 3e-4 }),
    samples: [] as Sample[],
  }));
  for (let round = -1; round < rounds; round++) {
    const targets = drawnTargets(config.targets, BATCH, { seed: 6, step: round + 1 });
    const noise = drawNoise(config.network, BATCH, generator);
    for (const { evaluate, optimizer, samples } of racers) {
      const sample = scope((): Sample => {
        const [wall, processor] = [performance.now(), processorTime()];
        optimizer.zeroGrad();
        weightedLoss(evaluate({ panels, targets }, noise), {
          rule: 10,
          target: 10,
          prior: 0,
        }).backward();
        const between = performance.now();
        optimizer.step();
        return {
          passes: between - wall,
          optimizer: performance.now() - between,
          processor: processorTime() - processor,
        };
      });
      if (round >= 0) samples.push(sample);
    }
  }
  return racers.map(({ name, samples }) => ({
    name,
    concepts: config.network.concepts,
    samples,
    passes: median(samples.map(({ passes }) => passes)),
    optimizer: median(samples.map(({ optimizer }) => optimizer)),
    processor: median(samples.map(({ processor }) => processor)),
  }));
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ concepts, name, passes, optimizer, processor }) =>
    [
      concepts,
      name,
      ...[passes, optimizer, passes + optimizer, processor].map((t) => t.toFixed(0)),
    ].join(' | '),
  );
  const head = 'M | structure | forward + backward, ms | RMSprop, ms | step, ms | processor, ms';
  return [head, '--- | --- | --- | --- | --- | ---', ...lines]
    .map((line) => `| ${line} |`)
    .join('\n');
}

const { values } = parseArgs({
  options: {
    concepts: { type: 'string', default: '4,8' },
    rounds: { type: 'string', default: '9' },
    threads: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});
setNumThreads(Number(values.threads));
const rows = values.concepts.split(',').flatMap((given) => {
  const concepts = Number(given);
  const config = crabConfig('released', 'center', { overrides: { network: { concepts } } });
  const [ours, reference] = measure(config, Number(values.rounds));
  const ratio = (time: (sample: Sample) => number): number =>
    median(ours.samples.map((sample, i) => time(reference.samples[i]) / time(sample)));
  const processor = ratio((sample) => sample.processor);
  console.log(
    `M=${concepts}: ${ratio(({ passes, optimizer }) => passes + optimizer).toFixed(2)}x the step, ` +
      `${ratio(({ passes }) => passes).toFixed(2)}x forward and backward, ` +
      `${processor.toFixed(2)}x processor time`,
  );
  const bar = BARS.get(concepts);
  if (bar !== undefined && processor < bar) {
    console.log(`Missed: ${bar}x at M=${concepts}.`);
    process.exitCode = 1;
  }
  return [ours, reference];
});
console.log(
  `\nbatch ${BATCH}, ${values.threads} thread(s), median of ${values.rounds}\n\n${table(rows)}`,
);
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(rows, null, 2) + '\n');
