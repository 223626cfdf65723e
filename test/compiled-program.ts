/** Programs of the tests that run in processes or threads of their own, as the set-up compiled them. */
import path from 'node:path';

export const COMPILED_PROGRAMS = path.resolve(import.meta.dirname, '..', 'build', 'test-programs');

/** The file to start: `compiledProgram('torch/distributed-child')`. */
export const compiledProgram = (name: string): string => path.join(COMPILED_PROGRAMS, `${name}.js`);
