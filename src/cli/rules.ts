/** `--rules`, `--regime` and `--split`: what fixes or limits the rules of generated problems, as one JSON value. */
import { Option } from 'commander';
import { ArgumentError, isRecord } from '../base/index.js';
import { PARTS, REGIME_NAMES, type RegimeName, type Split } from '../matrix/index.js';
import { oneOf } from './arguments.js';
import { UsageError } from './errors.js';
import { readTextInput } from './paths.js';

export interface RuleOptions {
  readonly rules?: string;
  readonly regime?: RegimeName;
  readonly split?: Split;
}

export const rulesOption = (): Option =>
  new Option('--rules <file.json>', 'fix rules, values or distractor attributes: docs/rules.md');

export const regimeOption = (): Option =>
  new Option(
    '--regime <name>',
    `hold rules back from training, A-I-RAVEN: ${REGIME_NAMES.join(', ')}`,
  ).argParser(oneOf(REGIME_NAMES));

export const splitOption = (): Option =>
  new Option(
    '--split <part>',
    `of a regime: ${PARTS.join(', ')} (default: by the number of the problem, 6 : 2 : 2)`,
  ).argParser(oneOf(PARTS));

async function readRules(file: string): Promise<unknown> {
  const text = await readTextInput('--rules', file);
  try {
    // Some editors put a byte order mark first.
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    throw new ArgumentError(`--rules ${file} is not JSON: ${(error as Error).message}`);
  }
}

/** The constraints that the options give, undefined if none. */
export async function rulesOf({ rules, regime, split }: RuleOptions): Promise<unknown> {
  const read = rules === undefined ? undefined : await readRules(rules);
  if (regime === undefined && split === undefined) return read;
  if (read !== undefined && !isRecord(read)) return read;
  if (regime !== undefined && read?.regime !== undefined) {
    throw new UsageError(`--regime: ${rules} has a regime already`);
  }
  if (regime === undefined && read?.regime === undefined) {
    throw new UsageError('--split goes with --regime, or with a regime in --rules');
  }
  return { ...read, ...(regime && { regime }), ...(split && { split }) };
}
