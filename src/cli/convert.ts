/** `crab convert`: between RAVEN folders, set files, HDF5 caches and contact sheets. */
import type { Command } from 'commander';
import { counted } from '../base/index.js';
import { isStandardOutput } from '../base/node.js';
import { convert, CONVERT_FORMATS, type ConvertFormat } from '../matrix/node.js';
import { noAnswers, oneOf } from './arguments.js';
import { tell } from './output.js';
import { withProgress } from './progress.js';

interface Options {
  out: string;
  format?: ConvertFormat;
  redraw?: boolean;
  noAnswers?: boolean;
  json?: boolean;
  quiet?: boolean;
}

const EXAMPLES = `
PATH is a RAVEN folder (or a root that holds several), a set file (.npz), or an HDF5 cache of the
authors' code (.hdf5). Without --format, an --out that ends in .npz is a set file, else a RAVEN folder.

A set becomes a RAVEN folder by reading its pictures back, which must be drawn exactly as RAVEN's are.
Rules are those of its labels, or those that hold where it has none. Problems are numbered from 0 in the
order of the set and drawn again at 160x160. Pictures do not show everything: a figure that looks the same
turned is written upright unless its row tells more, and equal entities with Uniformity 3. Sets with a mesh
cannot be read back, because figures and lines hide each other: keep the RAVEN folder they came from.

Examples:
  crab convert RAVEN-10000/center_single --out center.npz
  crab convert RAVEN-10000 --out sets --format npz           one set for each configuration
  crab convert center.npz --out data                         back to RAVEN's files, with XML
  crab convert center.npz --out sheets --format png`;

export function define(command: Command, signal: AbortSignal): void {
  command
    .requiredOption('--out <path>', 'folder or file to write; - for a set on standard output (npz)')
    .option('--format <name>', CONVERT_FORMATS.join(', '), oneOf(CONVERT_FORMATS))
    .option('--redraw', 'draw every panel again from its description instead of copying pixels')
    .addOption(noAnswers('png: sheets without the rules and the marked answer'))
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', EXAMPLES)
    .action((input: string, options: Options) => run(input, options, signal));
}

async function run(input: string, options: Options, signal: AbortSignal): Promise<void> {
  const { out, redraw, noAnswers: withoutAnswers } = options;
  const isOneFile = out.endsWith('.npz') || isStandardOutput(out);
  const format = options.format ?? (isOneFile ? 'npz' : 'raven');
  const report = await withProgress(null, 'problems', options, (progress) =>
    convert({
      ...{ input, out, format, redraw, withoutAnswers, signal },
      onProgress: (done, total) => {
        progress.total = total;
        progress.update(done);
      },
    }),
  );
  tell(
    options,
    report,
    () => `${counted(report.problems, 'problem')}: ${report.outputs.join(', ')}\n`,
  );
}
