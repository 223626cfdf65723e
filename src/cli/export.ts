/** `crab export`: a trained run becomes a bundle that runs anywhere. */
import type { Command } from 'commander';
import { counted, megabytes, percent } from '../base/index.js';
import {
  CALIBRATION_DEFAULTS,
  DEFAULT_JUDGED,
  exportRun,
  type ExportReport,
} from '../lab/index.js';
import { WEIGHT_FORMATS, type WeightFormat } from '../models/index.js';
import type { WhichWeights } from '../training/index.js';
import { oneOf, wholeNumber } from './arguments.js';
import { requireInput, requireOutputFolder } from './paths.js';
import { tell } from './output.js';
import { withStages } from './progress.js';

interface Options {
  out: string;
  compact?: boolean;
  weights?: WeightFormat;
  checkpoint: WhichWeights;
  problems?: number;
  judged?: number;
  json?: boolean;
  quiet?: boolean;
}

const EXAMPLES = `
A bundle holds the networks as ONNX files, statistics for choosing among candidates, the rules the
model found, its training curves and its accuracy on fresh problems. Needs no libtorch and no GPU. Runs of
crab and of transformer become bundles; that of a Transformer has no rules.

Examples:
  crab export runs/center-crab-0 --out bundles/center
  crab export runs/center-crab-0 --out bundles/center --compact     a few MB, for web pages`;

export function define(command: Command, signal: AbortSignal): void {
  command
    .requiredOption('--out <folder>', 'folder of the bundle')
    .option('--compact', 'factor the large layers and store weights in one byte each')
    .option(
      '--weights <format>',
      `${WEIGHT_FORMATS.join(', ')} (default: f32)`,
      oneOf(WEIGHT_FORMATS),
    )
    .option('--checkpoint <which>', 'best or latest', oneOf(['best', 'latest']), 'best')
    .option(
      '--problems <n>',
      `problems the statistics are from (default: ${CALIBRATION_DEFAULTS.problems})`,
      wholeNumber(64),
    )
    .option(
      '--judged <n>',
      `problems the accuracy is measured on (default: ${DEFAULT_JUDGED})`,
      wholeNumber(1),
    )
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', EXAMPLES)
    .action((run: string, options: Options) => runExport(run, options, signal));
}

function summary({ folder, name, step, bytes, accuracy }: ExportReport): string {
  const shares = Object.keys(accuracy.sa).map(
    (variant) =>
      `${variant} ${percent(accuracy.sa[variant])} (L2 ${percent(accuracy.saL2[variant])})`,
  );
  return `${folder}: ${name} after ${counted(step, 'step')}, ${megabytes(bytes)} MB, SA ${shares.join(', ')}\n`;
}

async function runExport(run: string, options: Options, signal: AbortSignal): Promise<void> {
  const { out, checkpoint: which, weights: format, compact, problems, judged } = options;
  await requireInput('RUN', run);
  await requireOutputFolder('--out', out);
  const report = await withStages(options, (onProgress) =>
    exportRun({ run, out, which, format, compact, problems, judged, signal, onProgress }),
  );
  tell(options, report, () => summary(report));
}
