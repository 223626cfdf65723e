// Arguments of a program that people call: what is wrong with them is one sentence, and the program ends with 2.
import { parseArgs } from 'node:util';

export function argumentsOf(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    const known = Object.keys(config.options).map((name) => `--${name}`);
    console.error(`${error.message.split('. ')[0]}: expected ${known.join(', ')}`);
    process.exit(2);
  }
}
