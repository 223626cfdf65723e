/** What the commands that measure models share: which metrics, on how many problems. */
import { Option } from 'commander';
import { DEFAULT_COUNTS, METRIC_NAMES, type MetricName } from '../lab/index.js';
import { device, wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';

const { problems, repeats, pictures } = DEFAULT_COUNTS;

export const problemsOption = (): Option =>
  new Option(
    '--problems <n>',
    `problems of each metric, 32 or more (default: ${problems} of gsa and ari, ${pictures} of errors, readback and rules)`,
  ).argParser(wholeNumber(32, 100_000));

export const repeatsOption = (): Option =>
  new Option(
    '--repeats <n>',
    `draws of positions and distractors of gsa (default: ${repeats})`,
  ).argParser(wholeNumber(1, 100));

/** The metrics of a comma-separated list, in the order they are measured. */
export function readMetrics(list: string): MetricName[] {
  const asked = list.split(',').map((name) => name.trim().toLowerCase());
  const unknown = asked.find(
    (name) => name !== 'all' && !METRIC_NAMES.some((each) => each === name),
  );
  if (unknown !== undefined) {
    throw new UsageError(
      `--metrics ${unknown}: expected all, or some of ${METRIC_NAMES.join(', ')}`,
    );
  }
  return METRIC_NAMES.filter((name) => asked.includes('all') || asked.includes(name));
}

/** `--device`, for models of runs. */
export const deviceOption = (): Option =>
  new Option('--device <name>', 'of a run: cpu, cuda or cuda:n (default: cpu)').argParser(device);
