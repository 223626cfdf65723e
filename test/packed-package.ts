/**
 * The package as others get it: packed by npm and unpacked into a project's modules. Its dependencies are
 * linked from this repository instead of installed, so that no registry is needed; development
 * dependencies are not, so that a forgotten dependency shows.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

interface Manifest {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  /** A file, or one for each condition. */
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}
export const manifest = JSON.parse(
  readFileSync(path.join(root, 'package.json'), 'utf8'),
) as Manifest;

export interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** Packs the package into a folder. */
export function pack(folder: string): Packed {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const printed = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [found] = JSON.parse(printed) as Packed[];
  return found;
}

/** Links an installed package of this repository into a project's modules, if it is there. */
export function linkModule(modules: string, name: string): void {
  const source = path.join(root, 'node_modules', name);
  if (!existsSync(source)) return;
  mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
  symlinkSync(source, path.join(modules, name), 'dir');
}

/** What `npm install` does with a tarball: unpacked, dependencies beside it, its programs linked. */
export function installTarball(tarball: string, project: string): string {
  const modules = path.join(project, 'node_modules');
  const installed = path.join(modules, manifest.name);
  mkdirSync(installed, { recursive: true });
  mkdirSync(path.join(modules, '.bin'));
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]);
  const names = { ...manifest.dependencies, ...manifest.optionalDependencies };
  for (const name of Object.keys(names)) linkModule(modules, name);
  for (const [name, file] of Object.entries(manifest.bin)) {
    chmodSync(path.join(installed, file), 0o755);
    symlinkSync(path.join(installed, file), path.join(modules, '.bin', name));
  }
  return installed;
}

/** Packs the package and installs it in a project; the folder it then lies in. */
export function installPacked(project: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'crab-pack-'));
  try {
    return installTarball(path.join(folder, pack(folder).filename), project);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
