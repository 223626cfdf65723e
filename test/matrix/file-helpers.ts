/** What the tests of files share: the reference data, and a Python with numpy. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const reference = path.resolve(import.meta.dirname, '../../../shared/reference');
export const referenceFiles = path.join(reference, 'files');
export const referenceSets = path.join(reference, 'sets');
export const hasReference = existsSync(referenceFiles) && existsSync(referenceSets);

/** Folders of the reference problems, `raven` and `iraven`, one for each layout. */
export function referenceFolders(): string[] {
  return readdirSync(referenceFiles).flatMap((variant) =>
    readdirSync(path.join(referenceFiles, variant)).map((folder) =>
      path.join(referenceFiles, variant, folder),
    ),
  );
}

function findPython(): string | undefined {
  return ['python3', '/usr/bin/python3'].find((command) => {
    try {
      execFileSync(command, ['-c', 'import numpy'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

export const pythonWithNumpy = findPython();

/** Whether Debian's Python, which `runPython` uses, can import all of some modules. */
export function pythonHas(...modules: string[]): boolean {
  if (pythonWithNumpy === undefined) return false;
  const program = `import ${modules.join(', ')}`;
  return spawnSync(pythonWithNumpy, ['-c', program], { stdio: 'ignore' }).status === 0;
}

/** Runs a Python program and parses the JSON that it prints. */
export function runPython(program: string, ...parameters: string[]): unknown {
  const output = execFileSync(pythonWithNumpy ?? 'python3', ['-c', program, ...parameters], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  return JSON.parse(output);
}
