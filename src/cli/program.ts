/** All commands of `crab`, put together. */
import { Command } from 'commander';
import { packageVersion } from '../base/node.js';
import { addConvertCommand } from './convert.js';
import { addEvaluateCommand } from './evaluate.js';
import { addExportCommand } from './export.js';
import { addGenerateCommand } from './generate.js';
import { addGradeCommand } from './grade.js';
import { addInfoCommand } from './info.js';
import { addReportCommand } from './report.js';
import { addSolveCommand } from './solve.js';
import { addStudioCommand } from './studio.js';
import { addSystemsCommand } from './systems.js';
import { addTrainCommand } from './train.js';

/** The program; `signal` aborts when the user presses Ctrl-C. */
export function buildProgram(signal: AbortSignal): Command {
  const program = new Command('crab')
    .description("Raven's progressive matrices: make them, solve them, see the rules.")
    .version(packageVersion())
    .option('--debug', 'show a stack trace with an error')
    .showHelpAfterError('(crab <command> --help explains the options)')
    .exitOverride();
  addGenerateCommand(program, signal);
  addConvertCommand(program, signal);
  addExportCommand(program, signal);
  addEvaluateCommand(program, signal);
  addReportCommand(program, signal);
  addSolveCommand(program, signal);
  addGradeCommand(program, signal);
  addSystemsCommand(program);
  addTrainCommand(program, signal);
  addStudioCommand(program, signal);
  addInfoCommand(program);
  for (const command of program.commands) {
    command.option('--debug', 'show a stack trace with an error').exitOverride();
  }
  return program;
}
