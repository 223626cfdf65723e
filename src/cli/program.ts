/**
 * All commands of `crab`, put together. What a command needs is loaded when it is used: `crab --help`
 * reads no more than this file.
 */
import { Command } from 'commander';
import { createRequire } from 'node:module';
import { refuseOptionsAsValues } from './arguments.js';

interface CommandEntry {
  readonly about: string;
  /** Its argument and what that is. */
  readonly takes?: readonly [name: string, about: string];
  /** A module that gives the command its options and its action. */
  readonly load: () => Promise<{
    readonly define: (command: Command, signal: AbortSignal) => void;
  }>;
}

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  generate: {
    about: 'make problems',
    load: () => import('./generate.js'),
  },
  text: {
    about: 'problems as text for language models: I-RAVEN and I-RAVEN-X',
    load: () => import('./text.js'),
  },
  arrays: {
    about: 'problems as arrays for other programs: any size, other tasks',
    takes: ['<path>', 'a RAVEN folder, a set or an HDF5 cache'],
    load: () => import('./arrays.js'),
  },
  convert: {
    about: 'convert problems between formats',
    takes: ['<path>', 'what to read'],
    load: () => import('./convert.js'),
  },
  export: {
    about: 'make a bundle of a trained run',
    takes: ['<run>', 'folder of the run'],
    load: () => import('./export.js'),
  },
  evaluate: {
    about: 'measure a model: accuracy, rules, concepts, pictures',
    load: () => import('./evaluate.js'),
  },
  report: {
    about: 'measure all models of a folder and set them beside the paper',
    load: () => import('./report.js'),
  },
  solve: {
    about: 'imagine the missing panels of a matrix and choose a candidate',
    takes: ['<input>', 'a problem: .npz, .png, .jpg or a folder of images'],
    load: () => import('./solve.js'),
  },
  grade: {
    about: 'grade what people or models answered to items',
    takes: ['<responses>', 'of people: CSV (respondent,item,choice); of models: jsonl (id, reply)'],
    load: () => import('./grade.js'),
  },
  systems: {
    about: 'the systems: what each needs, can do, and its measured accuracy',
    load: () => import('./systems.js'),
  },
  train: {
    about: 'train a model without labels, or continue a training',
    load: () => import('./train.js'),
  },
  studio: {
    about: 'a page that shows it think, and trains',
    load: () => import('./studio.js'),
  },
  info: {
    about: 'what is installed, what is missing and how to get it',
    load: () => import('./info.js'),
  },
};

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

/** The program; `signal` aborts when the user presses Ctrl-C. */
export function buildProgram(signal: AbortSignal): Command {
  const program = new Command('crab')
    .description("Raven's progressive matrices: make them, solve them, see the rules.")
    .version(version)
    .option('--debug', 'show a stack trace with an error')
    .showHelpAfterError('(crab <command> --help explains the options)')
    .hook('preAction', (_, command) => refuseOptionsAsValues(command))
    .exitOverride();
  for (const [name, { about, takes }] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(about).exitOverride();
    if (takes !== undefined) command.argument(...takes);
    command.option('--debug', 'show a stack trace with an error');
  }
  return program.hook('preSubcommand', async (_, command) => {
    const { define } = await COMMANDS[command.name()].load();
    define(command, signal);
  });
}
