/** What commands load before they do anything: whoever asks for help must not wait for the rest. */
import { build, type Metafile } from 'esbuild';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
let inputs: Metafile['inputs'];

beforeAll(async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/cli/main.ts'],
    bundle: true,
    splitting: true,
    outdir: 'unused',
    platform: 'node',
    format: 'esm',
    packages: 'external',
    external: ['../../dist/runtime/*'],
    metafile: true,
    write: false,
  });
  ({ inputs } = metafile);
});

/** Files and packages that importing a file loads at once. */
function loadedBy(file: string): { readonly files: string[]; readonly packages: string[] } {
  const files = new Set([file]);
  const packages = new Set<string>();
  for (const each of files) {
    for (const { path: name, kind, external } of inputs[each].imports) {
      if (kind !== 'import-statement') continue;
      if (external !== true) files.add(name);
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  return { files: [...files].sort(), packages: [...packages].sort() };
}

const layersOf = (file: string): string[] =>
  [...new Set(loadedBy(file).files.map((name) => name.split('/')[1]))].sort();

describe('before it knows the command', () => {
  test('crab loads four files of its own and commander', () => {
    expect(loadedBy('src/cli/main.ts')).toEqual({
      files: ['arguments', 'errors', 'main', 'program'].map((name) => `src/cli/${name}.ts`),
      packages: ['commander'],
    });
  });
});

describe('a command loads no layer it has no use for', () => {
  test.each([
    ['generate', ['base', 'cli', 'matrix']],
    ['convert', ['base', 'cli', 'matrix']],
    ['solve', ['base', 'cli', 'matrix', 'solver']],
  ])('%s', (command, layers) => {
    expect(layersOf(`src/cli/${command}.ts`)).toEqual(layers);
  });

  test('which the others do', () => {
    expect(layersOf('src/cli/train.ts')).toContain('training');
  });
});
