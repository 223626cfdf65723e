/**
 * What refitting the rule prior costs (Algorithm 1: a mixture for each concept, every U steps, from the rules
 * of one batch), beside a training step of the same preset with the prior's term in it.
 *
 *     npx tsx bench/model/prior.ts [--preset crab] [--concepts 4,8,10] [--rounds 5] [--threads 1] [--device cpu]
 *         [--json FILE]
 *
 * A refit is timed as training does it: rules to the host, one fit for each concept, the mixtures back to the
 * device. Rules are those of a model that has learnt nothing, one cloud, and four clusters as of one that has.
 * Prints Markdown. The bar: under 3% of the time of the U steps from one refit to the next.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  CrabModel,
  crabConfig,
  drawNoise,
  evaluateObjective,
  PRESETS,
  RulePrior,
  weightedLoss,
  type CrabConfig,
  type PresetName,
} from '../../src/models/index.js';
import {
  Generator,
  optim,
  rand,
  randn,
  scope,
  setNumThreads,
  synchronize,
  type Device,
  type Tensor,
} from '../../src/torch/index.js';
import { drawnTargets } from './targets.js';

const BAR = 0.03;
const DATASET = 20_000;

interface Row {
  readonly concepts: number;
  /** Milliseconds of a step without a refit. */
  readonly step: number;
  /** Milliseconds of a refit, from one cloud and from four clusters. */
  readonly cloud: number;
  readonly clusters: number;
  /** Of the slower refit, in the time of a refit period. */
  readonly share: number;
}

const { values } = parseArgs({
  options: {
    preset: { type: 'string', default: 'crab' },
    concepts: { type: 'string', default: '4,8,10' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '1' },
    device: { type: 'string', default: 'cpu' },
    json: { type: 'string' },
  },
});
const device = values.device as Device;
/** A run has thousands of refits; the first ones run before they are compiled. */
const REFITS = 50;

/** Median milliseconds of some rounds, after some that are not counted. */
function timed(rounds: number, warmUp: number, work: () => void): number {
  const samples: number[] = [];
  for (let round = -warmUp; round < rounds; round++) {
    const start = performance.now();
    scope(work);
    if (device !== 'cpu') synchronize(device);
    if (round >= 0) samples.push(performance.now() - start);
  }
  return samples.sort((a, b) => a - b)[samples.length >> 1];
}

/** A training step with the prior's term; returns the rules that its batch sampled. */
function stepper(config: CrabConfig, prior: RulePrior, generator: Generator): () => Tensor {
  const { sigmaX, sigmaZ } = config.objective;
  const { batchSize } = config.optimizer;
  const model = new CrabModel(config.network, { generator, device });
  const optimizer = new optim.Adam(model.parameters(), { learningRate: 1e-3 });
  const panels = rand([batchSize, 9, 64, 64], { generator }).to({ device });
  const targets = drawnTargets(config.targets, batchSize, { seed: 1, device });
  const { density } = config.rulePrior;
  // A device draws with a generator of its own.
  const noise = new Generator(device, 6);
  return () => {
    optimizer.zeroGrad();
    const { terms, rules } = evaluateObjective(
      model,
      { panels, targets },
      {
        noise: drawNoise(config.network, batchSize, noise),
        sigmaX,
        sigmaZ,
        decoded: config.targets.decoded,
        prior: { tensors: prior.tensors, density, datasetSize: DATASET },
      },
    );
    weightedLoss(terms, { rule: 10, target: 10, prior: 1e-5 }).backward();
    optimizer.step();
    return rules;
  };
}

/** Rules [M, N, d_r] around four centres. */
function clustered(config: CrabConfig, generator: Generator): Tensor {
  const { concepts, ruleSize } = config.network;
  const { batchSize } = config.optimizer;
  const centres = randn([concepts, 4, 1, ruleSize], { generator });
  const around = randn([concepts, 4, batchSize / 4, ruleSize], { generator }).mul(0.1);
  return centres.add(around).flatten(1, 2);
}

function measure(concepts: number): Row {
  const preset = values.preset as PresetName;
  if (!PRESETS.includes(preset)) throw new Error(`--preset: one of ${PRESETS.join(', ')}`);
  const config = crabConfig(preset, 'center', { overrides: { network: { concepts } } });
  const generator = new Generator('cpu', 5);
  const prior = new RulePrior(concepts, config.network.ruleSize, config.rulePrior, device);
  const step = stepper(config, prior, generator);
  const refit = (rules: Tensor): number => {
    const placed = rules.to({ device });
    let seed = 0;
    return timed(REFITS, REFITS, () => prior.refit(placed.data() as Float32Array, seed++));
  };
  return scope(() => {
    const cloud = refit(step());
    const clusters = refit(clustered(config, generator));
    const time = timed(Number(values.rounds), 1, () => void step());
    const slower = Math.max(cloud, clusters);
    const share = slower / (slower + config.rulePrior.refitEvery * time);
    return { concepts, step: time, cloud, clusters, share };
  });
}

setNumThreads(Number(values.threads));
const rows = values.concepts.split(',').map((concepts) => measure(Number(concepts)));
console.log('| M | step, ms | refit of one cloud, ms | of four clusters, ms | share of the time |');
console.log('| --- | --- | --- | --- | --- |');
for (const { concepts, step, cloud, clusters, share } of rows) {
  const times = [step.toFixed(0), cloud.toFixed(2), clusters.toFixed(2)];
  console.log(`| ${[concepts, ...times, `${(100 * share).toFixed(2)}%`].join(' | ')} |`);
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(rows, null, 2) + '\n');
for (const { concepts } of rows.filter(({ share }) => share >= BAR)) {
  console.log(`\nMissed: the refit at M=${concepts} costs 3% or more.`);
  process.exitCode = 1;
}
