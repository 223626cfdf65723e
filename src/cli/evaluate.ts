/** `crab evaluate`: measures a model on problems. */
import type { Command } from 'commander';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exportRun, selectionAccuracy } from '../lab/index.js';
import { openProblems } from '../matrix/node.js';
import { Solver } from '../solver/node.js';
import { UsageError } from './errors.js';
import { startProgress } from './progress.js';

interface Options {
  model: string;
  data: string;
  metrics: string;
  json?: boolean;
  quiet?: boolean;
}

const METRICS = ['sa'] as const;

const EXAMPLES = `
The model is a bundle of the zoo by its name, the folder of a bundle, or a run, which is exported to a
temporary bundle first. The data are a RAVEN folder (its test part) or a set file (.npz).

Examples:
  crab evaluate --model center --data RAVEN-10000/center_single
  crab evaluate --model runs/center-crab-0 --data center.npz --json`;

export function addEvaluateCommand(program: Command, signal: AbortSignal): void {
  program
    .command('evaluate')
    .description('measure the accuracy of a model')
    .requiredOption('--model <model>', 'name or folder of a bundle, or a run')
    .requiredOption('--data <path>', 'a RAVEN folder or a set file')
    .option('--metrics <list>', METRICS.join(','), 'sa')
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => evaluate(options, signal));
}

function checkMetrics(list: string): void {
  const unknown = list.split(',').find((metric) => !METRICS.some((known) => known === metric));
  if (unknown !== undefined) {
    throw new UsageError(`--metrics ${unknown}: expected ${METRICS.join(', ')}`);
  }
}

const isRun = async (folder: string): Promise<boolean> =>
  stat(path.join(folder, 'config.json')).then(
    (found) => found.isFile(),
    () => false,
  );

/** Uses the solver of a bundle, or of a run that is exported for the purpose. */
async function withSolver<T>(
  model: string,
  signal: AbortSignal,
  use: (solver: Solver) => Promise<T>,
): Promise<T> {
  const temporary = (await isRun(model))
    ? await mkdtemp(path.join(tmpdir(), 'crab-bundle-'))
    : null;
  try {
    if (temporary !== null) await exportRun({ run: model, out: temporary, judged: 1, signal });
    const solver = await Solver.load(temporary ?? model, { signal });
    try {
      return await use(solver);
    } finally {
      await solver.dispose();
    }
  } finally {
    if (temporary !== null) await rm(temporary, { recursive: true, force: true });
  }
}

async function evaluate(options: Options, signal: AbortSignal): Promise<void> {
  checkMetrics(options.metrics);
  const report = await withSolver(options.model, signal, async (solver) => {
    const { configuration, noisy } = solver.manifest;
    const source = await openProblems(options.data, { configuration, noisy, part: 'test' });
    const progress = startProgress(source.count, 'problems', options.quiet);
    try {
      const result = await selectionAccuracy(solver, source, {
        signal,
        onProgress: (done) => progress.update(done),
      });
      return { model: options.model, data: options.data, ...result };
    } finally {
      progress.stop();
      await source.close();
    }
  });
  const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;
  process.stdout.write(
    options.json
      ? `${JSON.stringify(report)}\n`
      : `${report.count} problems: SA ${percent(report.sa)}, by plain L2 ${percent(report.saL2)}\n`,
  );
}
