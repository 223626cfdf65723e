/**
 * Tests run the sources as compiled JavaScript, from dist: Node loads it several times faster than TypeScript,
 * and so do the many processes and worker threads that tests start. What changed since the last build is
 * compiled here, so that a test never sees old code. The page (src/studio) is not part of it.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import type { TestProject } from 'vitest/node';
import type { Plugin } from 'vite';
import { COMPILED_PROGRAMS } from '../compiled-program.js';
import { ROOT } from '../project.js';

const TESTS = path.join(ROOT, 'test');
const SOURCES = path.join(ROOT, 'src');
const COMPILED = path.join(ROOT, 'dist');

/** The compiled file of a source, or null for what is not compiled by itself. */
function compiledFile(source: string): string | null {
  const relative = path.relative(SOURCES, source);
  const isOurs = !relative.startsWith('..') && !relative.startsWith(`studio${path.sep}`);
  if (!isOurs || !relative.endsWith('.ts')) return null;
  return path.join(COMPILED, relative.replace(/\.ts$/, '.js'));
}

const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** As tsconfig.build.json says, for one file by itself. */
const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ES2022,
  verbatimModuleSyntax: true,
  inlineSourceMap: true,
};

function compileChanged(): void {
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    const source = path.join(SOURCES, name);
    const compiled = compiledFile(source);
    if (compiled === null || changedAt(compiled) > changedAt(source)) continue;
    const text = readFileSync(source, 'utf8');
    const { outputText } = ts.transpileModule(text, { compilerOptions, fileName: source });
    mkdirSync(path.dirname(compiled), { recursive: true });
    writeFileSync(compiled, outputText);
  }
}

/** Programs that tests start, `*-child.ts`: each in one file, on the compiled sources. */
async function compilePrograms(): Promise<void> {
  const names = readdirSync(TESTS, { recursive: true, encoding: 'utf8' });
  await build({
    entryPoints: names
      .filter((name) => name.endsWith('-child.ts'))
      .map((name) => path.join(TESTS, name)),
    outdir: COMPILED_PROGRAMS,
    outbase: TESTS,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    sourcemap: 'inline',
    plugins: [
      {
        name: 'compiled-sources',
        setup: (bundler) =>
          bundler.onResolve({ filter: /^\.\.?\// }, ({ path: name, resolveDir }) => {
            const source = path.resolve(resolveDir, name).replace(/\.js$/, '.ts');
            const compiled = compiledFile(source);
            return compiled === null ? null : { path: compiled, external: true };
          }),
      },
    ],
  });
}

async function compile(): Promise<void> {
  compileChanged();
  await compilePrograms();
}

/** For Vitest's `globalSetup`. */
export default async function setup(project: TestProject): Promise<void> {
  await compile();
  project.onTestsRerun(compile);
}

/** Sends imports of sources to what was compiled from them, which Node loads without Vitest. */
export function compiledSources(): Plugin {
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    async resolveId(id, importer, options) {
      const resolved = await this.resolve(id, importer, { ...options, skipSelf: true });
      const compiled = resolved === null ? null : compiledFile(resolved.id);
      return compiled === null ? null : { id: compiled, external: true };
    },
  };
}
