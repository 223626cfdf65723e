/** `crab info`: what is installed here, what is missing, and the command that installs it. */
import type { Command } from 'commander';
import { gibibytes, megabytes, percent } from '../base/index.js';
import {
  readInstallation,
  type BundleInfo,
  type Installation,
  type Part,
} from '../server/index.js';
import { tell } from './output.js';
import { requireInputFolder } from './paths.js';

const EXAMPLES = `
Examples:
  crab info
  crab info --json`;

export function define(command: Command): void {
  command
    .option('--zoo <folder>', 'folder of models (default: those of this package)')
    .option('--json', 'report as JSON on standard output')
    .addHelpText('after', EXAMPLES)
    .action(async ({ json, zoo }: { json?: boolean; zoo?: string }) => {
      if (zoo !== undefined) await requireInputFolder('--zoo', zoo);
      const found = await readInstallation({ zoo });
      tell({ json }, found, () => describe(found));
    });
}

const LABEL_WIDTH = 14;
const line = (label: string, text: string): string => `${label.padEnd(LABEL_WIDTH)}${text}\n`;

/** A part in one line, or why it is missing and how to get it in two. */
function partLines<Found>(
  label: string,
  part: Part<Found>,
  tell: (found: Found) => string,
): string {
  if (part.available) return line(label, tell(part));
  return line(label, `missing: ${part.reason}`) + line('', `get it: ${part.command}`);
}

function torchLine(found: Extract<Installation['libtorch'], { available: true }>): string {
  const devices = found.devices.map(({ name, memory }) => `${name} (${gibibytes(memory)} GiB)`);
  // Its first two words are name and version; the rest is how it was built.
  const blas = found.blas.split(' ').slice(0, 2).join(' ');
  const built = found.cuda ? 'CUDA, but no device' : 'no CUDA';
  return `${found.version}, ${devices.length > 0 ? devices.join(', ') : built}; ${blas}`;
}

function onnxLine(found: Extract<Installation['onnxRuntime'], { available: true }>): string {
  if (found.kind === 'native') return `${found.version}, native`;
  const wasm = `${found.version}, WebAssembly`;
  if (found.nativeCommand === null) return wasm;
  const why = `the native one, about five times as fast, is missing: ${found.nativeFault}`;
  return `${wasm}; ${why}\n${' '.repeat(LABEL_WIDTH)}get it: ${found.nativeCommand}`;
}

const DISTANCES = { calibrated: 'the calibrated distance', l2: 'plain L2' } as const;

function bundleLine({ name, bytes, accuracy, distance }: BundleInfo): string {
  const shares = Object.entries(accuracy ?? {}).map(
    ([variant, share]) => `${variant} ${percent(share)}`,
  );
  const measured =
    shares.length > 0
      ? `accuracy by ${DISTANCES[distance]} ${shares.join(', ')}`
      : 'accuracy not measured';
  return `${name}, ${megabytes(bytes)} MB, ${measured}`;
}

function zooLines({ bundles, damaged, folder }: Installation['zoo']): string {
  if (bundles.length + damaged.length === 0) {
    return (
      line('models', `none in ${folder}`) +
      line('', 'make one: crab train --config center, then crab export')
    );
  }
  const texts = [
    ...bundles.map(bundleLine),
    ...damaged.map(({ name, reason }) => `${name}: damaged, ${reason}`),
  ];
  return texts.map((text, i) => line(i === 0 ? 'models' : '', text)).join('');
}

function describe(found: Installation): string {
  const { node, machine } = found;
  const old = node.supported ? '' : ' (too old: version 20 or later is needed)';
  return [
    line('crab-raven', found.version),
    line('Node', `${node.version}${old}`),
    line(
      'machine',
      `${machine.platform}, ${machine.processor}, ${machine.cores} cores, ${gibibytes(machine.memory)} GiB`,
    ),
    partLines('libtorch', found.libtorch, torchLine),
    partLines('ONNX Runtime', found.onnxRuntime, onnxLine),
    partLines('studio page', found.page, () => 'built'),
    zooLines(found.zoo),
  ].join('');
}
