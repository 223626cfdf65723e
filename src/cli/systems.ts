/** `crab systems`: the systems that can be trained, what each needs and can do, and its accuracy. */
import type { Command } from 'commander';
import path from 'node:path';
import {
  describeSystems,
  VARIANT_NAMES,
  type Accuracy,
  type SystemDescription,
} from '../lab/index.js';
import type { Variant } from '../matrix/index.js';
import { counted, percent } from '../base/index.js';
import { UsageError } from './errors.js';
import { tell } from './output.js';
import { requireInputFolder } from './paths.js';

const EXAMPLES = `
Accuracy is selection accuracy, the mean over the configurations that were measured, from the documents
of this package; below it what the paper prints.

Examples:
  crab systems
  crab systems --json
  crab train --system NAME --config center`;

export function define(command: Command): void {
  command
    .option(
      '--docs <folder>',
      'folder of documents with measured/ (default: those of this package)',
    )
    .option('--json', 'report as JSON on standard output')
    .addHelpText('after', EXAMPLES)
    .action(async ({ json, docs }: { json?: boolean; docs?: string }) => {
      if (docs !== undefined) await requireInputFolder('--docs', docs);
      const systems = await describeSystems(docs);
      if (docs !== undefined && systems.every(({ measured }) => measured.length === 0)) {
        throw new UsageError(
          `--docs ${docs}: there are no measurements in ${path.join(docs, 'measured')}; crab report --zoo --docs ${docs} writes them`,
        );
      }
      tell({ json }, { systems }, () => systems.map(describe).join('\n'));
    });
}

/** Words of what a system can do beside choosing. */
const ABILITIES = {
  impute: 'draws missing panels',
  concepts: 'describes panels by concepts',
  rules: 'tells rules',
} as const;

const accuracyText = (accuracy: Accuracy): string =>
  Object.entries(accuracy)
    .map(([variant, share]) => `${VARIANT_NAMES[variant as Variant]} ${percent(share)}`)
    .join(', ');

function needsText({ needs }: SystemDescription): string {
  const { candidates, rules, imageSize, problems } = needs;
  const seen = candidates === null ? 'panels only' : `candidates of ${VARIANT_NAMES[candidates]}`;
  return [
    seen,
    ...(rules ? ['rules'] : []),
    `pictures of ${imageSize}x${imageSize}`,
    ...(problems === null ? [] : [counted(problems, 'problem')]),
  ].join(', ');
}

function describe(system: SystemDescription): string {
  const { name, title, presets, positions, can, measured, paper } = system;
  const where = positions === 'any' ? 'chooses for any panels' : 'chooses for panel 9';
  const lines = [
    ['presets', presets.join(', ')],
    ['needs', needsText(system)],
    ['can', [where, ...can.map((each) => ABILITIES[each])].join(', ')],
    ...measured.map(({ preset, configurations, sa, saL2 }) => [
      'measured',
      `preset ${preset}, ${counted(configurations, 'configuration')}: ${accuracyText(sa)}${saL2 === undefined ? '' : `; by plain L2 ${accuracyText(saL2)}`}`,
    ]),
    ...(measured.length === 0 ? [['measured', 'not yet']] : []),
    ...paper.map(({ name: printed, aux, sa }) => [
      'the paper',
      `${printed}${aux === '-' ? '' : ` (${aux})`}: ${accuracyText(sa)}`,
    ]),
  ];
  return `${name}: ${title}\n${lines.map(([label, text]) => `  ${label.padEnd(11)}${text}\n`).join('')}`;
}
