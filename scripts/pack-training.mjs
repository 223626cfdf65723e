// Packs everything that training needs into one file, for a machine that has PyTorch and a compiler but
// neither a network nor Node: a node of a cluster, a rented GPU.
//
//   npm run pack:training -- crab-training.tar.xz
//
// There:
//
//   tar xf crab-training.tar.xz
//   crab-training/crab train --config center --device cuda --out run
//
// `crab` first builds the addon against that machine's PyTorch (a minute, once), then runs the packed Node.
// Benches run as `crab-training/bin/node crab-training/app/bench/NAME.mjs`. Both machines must have the same
// system and kind of processor. The ending of the file says how it is packed: .tar.xz is smallest, .tar fastest.
import { transformSync } from 'esbuild';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNodeHeaders, NODE_HEADER_FOLDERS } from './node-headers.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const NAME = 'crab-training';
/** What the addon includes of Node. */
const HEADERS = ['node_api.h', 'node_api_types.h', 'js_native_api.h', 'js_native_api_types.h'];
/** Of the project: all but the page, the models and the documents. */
const OURS = ['package.json', 'LICENSE', 'native', 'scripts', 'bench', 'dist'];
const LEFT_OUT = /\.map$|\.d\.[cm]?ts$|^dist\/studio(\/|$)/;
const COMPRESSION = [
  ['.tar.xz', ['--use-compress-program=xz -T0']],
  ['.tar.gz', ['--gzip']],
  ['.tar', []],
];

const START = `#!/bin/sh
# Runs CRAB with the packed Node; builds the addon for this machine's PyTorch before that, if it is not built.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
"$here/bin/node" "$here/app/scripts/setup-torch.mjs" --if-needed >&2 || exit 1
exec "$here/bin/node" "$here/app/dist/cli/main.js" "$@"
`;

/** Ends with one sentence. */
function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Folders of the packages that the built project needs, and of what these need. */
function packages() {
  const args = ['ls', '--omit=dev', '--all', '--parseable'];
  const { stdout } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  return stdout.trim().split('\n').slice(1);
}

/** ONNX Runtime comes with libraries for every system; only this one's are packed. */
function isOfThisSystem(file) {
  const system = /onnxruntime-node\/bin\/[^/]+\/([^/]+)(?:\/([^/]+))?/.exec(file);
  if (system === null) return true;
  const [, platform, processor = process.arch] = system;
  return platform === process.platform && processor === process.arch;
}

function copy(from, to) {
  const filter = (file) => !LEFT_OUT.test(relative(ROOT, file)) && isOfThisSystem(file);
  cpSync(from, to, { recursive: true, filter });
}

/** Benches in TypeScript run from the sources; here they run in plain Node from what is built. */
function translateBenches(folder) {
  for (const entry of readdirSync(folder, { recursive: true }).map(String)) {
    if (!entry.endsWith('.ts')) continue;
    const file = join(folder, entry);
    const text = readFileSync(file, 'utf8').replaceAll('../src/', '../dist/');
    writeFileSync(file.replace(/\.ts$/, '.mjs'), transformSync(text, { loader: 'ts' }).code);
    rmSync(file);
  }
}

/** Node itself, without what only debuggers read if the system can strip it. */
function copyNode(to) {
  cpSync(process.execPath, to, { dereference: true });
  spawnSync('strip', [to]);
  const works =
    spawnSync(to, ['--version'], { encoding: 'utf8' }).stdout === `${process.version}\n`;
  if (!works) cpSync(process.execPath, to, { dereference: true });
}

function collect(folder) {
  const headers = findNodeHeaders();
  if (headers === undefined) fail(`node_api.h is in none of ${NODE_HEADER_FOLDERS.join(', ')}.`);
  mkdirSync(join(folder, 'bin'), { recursive: true });
  copyNode(join(folder, 'bin/node'));
  for (const name of HEADERS) copy(join(headers, name), join(folder, 'include/node', name));
  const app = join(folder, 'app');
  for (const name of OURS) copy(join(ROOT, name), join(app, name));
  for (const from of packages()) copy(from, join(app, relative(ROOT, from)));
  translateBenches(join(app, 'bench'));
  writeFileSync(join(folder, 'crab'), START, { mode: 0o755 });
}

const out = process.argv[2];
if (process.argv.length !== 3 || out.startsWith('-')) fail('usage: pack-training FILE.tar.xz');
const compression = COMPRESSION.find(([ending]) => out.endsWith(ending))?.[1];
if (compression === undefined) fail(`${out}: must end in .tar.xz, .tar.gz or .tar.`);
if (!existsSync(join(ROOT, 'dist/cli/main.js'))) fail('The project is not built: npm run build.');

const work = mkdtempSync(join(tmpdir(), 'pack-training-'));
try {
  collect(join(work, NAME));
  const packed = join(work, 'packed');
  execFileSync('tar', [...compression, '-cf', packed, '-C', work, NAME]);
  mkdirSync(dirname(resolve(out)), { recursive: true });
  cpSync(packed, `${resolve(out)}.new`);
  renameSync(`${resolve(out)}.new`, resolve(out));
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(`${out}: ${(statSync(out).size / 2 ** 20).toFixed(1)} MiB`);
