// Finds libtorch, builds the addon against it, and tests the result. Needs g++ and Node's headers.
//
//   node scripts/setup-torch.mjs              find (on Debian as root: install), build, test
//   node scripts/setup-torch.mjs --if-needed  the same, but nothing if the addon is up to date
//   node scripts/setup-torch.mjs --check      only load the addon that is there and test it
//   --sanitize                                with the address and undefined-behaviour sanitisers, for tests:
//                                             LD_PRELOAD="$(g++ -print-file-name=libasan.so)" node ...
//   --out FOLDER                              build there instead of build/torch (CRAB_TORCH_ADDON then
//                                             names the file to load)
//
// What the compilers say is in build/torch/setup.log, and shown if one fails.
//
// libtorch is looked for in this order: the folder in LIBTORCH, the `torch` of the `python3` on the PATH,
// the system's (Debian's libtorch-dev). The result is build/torch/crab_torch.node, which loads
// build/torch/crab_torch_core.so.
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, freemem } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { argumentsOf } from './arguments.mjs';
import { findNodeHeaders, NODE_HEADER_FOLDERS } from './node-headers.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const NATIVE = join(ROOT, 'native');
const OPTIONS = argumentsOf({
  options: {
    'if-needed': { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    sanitize: { type: 'boolean', default: false },
    out: { type: 'string', default: join(ROOT, 'build', 'torch') },
  },
}).values;
const BUILD = resolve(OPTIONS.out);
const ADDON = join(BUILD, 'crab_torch.node');
const CORE = join(BUILD, 'crab_torch_core.so');
const STAMP = join(BUILD, 'stamp.json');
const LOG = join(BUILD, 'setup.log');
const LOADER = 'loader.cc';
const DEBIAN_PACKAGES = ['libtorch-dev', 'libopenblas0-openmp', 'libgloo-dev', 'g++'];
/** What one compiler takes on libtorch's headers, generously. */
const COMPILER_BYTES = 1.5 * 2 ** 30;
const OPENBLAS_OPENMP = '/usr/lib/x86_64-linux-gnu/openblas-openmp';

const require = createRequire(import.meta.url);
const run = promisify(execFile);

/** An expected failure: shown as one sentence, without a stack. */
class SetupError extends Error {}

/** Runs a program and returns its output, or null if it is missing or fails. */
function tryOutput(program, args) {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

/** Where libtorch writes its version: 2.10 and later, and before. */
const VERSION_HEADERS = ['torch/headeronly/version.h', 'torch/csrc/api/include/torch/version.h'];

function versionOf(include) {
  const header = VERSION_HEADERS.map((name) => join(include, name)).find((path) =>
    existsSync(path),
  );
  if (!header) return null;
  const text = readFileSync(header, 'utf8');
  const part = (name) => text.match(new RegExp(`define TORCH_VERSION_${name} (\\d+)`))?.[1];
  return ['MAJOR', 'MINOR', 'PATCH'].map(part).join('.');
}

/** @returns a description of the libtorch in that prefix (include/, lib/), or null if there is none. */
function libtorchIn(origin, prefix, libraries, extra = {}) {
  const include = join(prefix, 'include');
  const version = versionOf(include);
  if (version === null || !existsSync(join(libraries, 'libtorch_cpu.so'))) return null;
  const cuda = existsSync(join(libraries, 'libtorch_cuda.so'));
  return { origin, version, include, libraries, cuda, cxx11Abi: true, ...extra };
}

function libtorchOfPython() {
  const script =
    'import os, torch; print(os.path.dirname(torch.__file__)); print(int(torch._C._GLIBCXX_USE_CXX11_ABI))';
  const output = tryOutput('python3', ['-c', script]);
  if (output === null) return null;
  const [folder, abi] = output.split('\n');
  if (isOfSystem(join(folder, 'lib'))) return libtorchOfSystem();
  return (
    libtorchIn(
      `torch of ${tryOutput('sh', ['-c', 'command -v python3'])}`,
      folder,
      join(folder, 'lib'),
      {
        cxx11Abi: abi === '1',
      },
    ) ?? libtorchOfSystem()
  );
}

const SYSTEM_FOLDERS = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib64',
  '/usr/lib',
];

/** Whether a folder's libtorch is a link to the system's: Debian's torch for Python is. */
function isOfSystem(libraries) {
  const file = join(libraries, 'libtorch_cpu.so');
  return existsSync(file) && SYSTEM_FOLDERS.includes(dirname(realpathSync(file)));
}

function libtorchOfSystem() {
  for (const folder of SYSTEM_FOLDERS) {
    const found = libtorchIn('the system', '/usr', folder);
    if (found) return found;
  }
  return null;
}

function findLibtorch() {
  const folder = process.env.LIBTORCH;
  if (folder) {
    const found = libtorchIn(`LIBTORCH=${folder}`, resolve(folder), join(resolve(folder), 'lib'));
    if (!found)
      throw new SetupError(`LIBTORCH=${folder}: no include/torch and lib/libtorch_cpu.so there`);
    return found;
  }
  return libtorchOfPython() ?? libtorchOfSystem();
}

function nodeHeaders() {
  const found = findNodeHeaders();
  if (found !== undefined) return found;
  throw new SetupError(
    `node_api.h of Node ${process.versions.node} was not found in ${NODE_HEADER_FOLDERS.join(', ')}`,
  );
}

/** Folders with CUDA's headers: of the toolkit, or of the packages that PyTorch's wheels bring along. */
function cudaHeaders(libtorch) {
  const homes = [process.env.CUDA_HOME, process.env.CUDA_PATH, '/usr/local/cuda'].filter(Boolean);
  const packages = resolve(libtorch.libraries, '../../nvidia');
  const fromPackages = existsSync(packages)
    ? readdirSync(packages).map((name) => join(packages, name))
    : [];
  const folders = [...homes, ...fromPackages].map((folder) => join(folder, 'include'));
  const runtime = folders.find((folder) => existsSync(join(folder, 'cuda_runtime_api.h')));
  if (!runtime) {
    throw new SetupError('libtorch has CUDA, but cuda_runtime_api.h was not found: set CUDA_HOME');
  }
  // The headers of cuBLAS and its kin are beside the runtime's, or in folders of their own.
  if (existsSync(join(runtime, 'cublas_v2.h'))) return [runtime];
  return folders.filter((folder) => existsSync(folder));
}

/** The file that a program's name stands for. */
const programPath = (name) => tryOutput('sh', ['-c', `command -v "${name}"`]) ?? name;

/** nvcc of the toolkit whose headers are used, or null: kernels of our own are then left out. */
function findNvcc() {
  const homes = [process.env.CUDA_HOME, process.env.CUDA_PATH, '/usr/local/cuda'].filter(Boolean);
  const candidates = [...homes.map((home) => join(home, 'bin/nvcc')), 'nvcc'];
  return candidates.find((program) => tryOutput(program, ['--version']) !== null) ?? null;
}

/**
 * What process groups need of this libtorch: Gloo where the headers it was built with are there, NCCL
 * with CUDA. Wheels of PyTorch come without Gloo's headers, and those of another Gloo do not fit.
 */
function processGroups(libtorch) {
  const c10d = join(libtorch.include, 'torch/csrc/distributed/c10d');
  const gloo =
    existsSync(join(c10d, 'ProcessGroupGloo.hpp')) &&
    existsSync(join(libtorch.include, 'gloo/algorithm.h'));
  const nccl = libtorch.cuda && existsSync(join(c10d, 'ProcessGroupNCCL.hpp'));
  const folders = [libtorch.include, ...(nccl ? ncclFolders(libtorch) : [])];
  const ncclHeaders = nccl
    ? folders.find((folder) => existsSync(join(folder, 'nccl.h')))
    : undefined;
  return { gloo, ncclHeaders };
}

/** Where nccl.h may be: the package that PyTorch's wheels bring along, the toolkit, the system. */
function ncclFolders(libtorch) {
  const packages = resolve(libtorch.libraries, '../../nvidia');
  const homes = [process.env.NCCL_HOME, process.env.CUDA_HOME, '/usr/local/cuda', '/usr'];
  return [join(packages, 'nccl'), ...homes.filter(Boolean)].map((home) => join(home, 'include'));
}

/** Everything that decides what the compiler does. */
function plan(libtorch) {
  const addonApi = require('node-addon-api').include.replaceAll('"', '');
  const system = [
    nodeHeaders(),
    addonApi,
    libtorch.include === '/usr/include' ? null : libtorch.include,
    join(libtorch.include, 'torch/csrc/api/include'),
  ].filter(Boolean);
  const defines = [
    'NAPI_CPP_EXCEPTIONS',
    // A worker that is being stopped cannot take exceptions; the process must survive that.
    'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
    // Finalisers run inside the collector, so memory is freed even while a program never yields.
    'NAPI_EXPERIMENTAL',
    `_GLIBCXX_USE_CXX11_ABI=${libtorch.cxx11Abi ? 1 : 0}`,
  ];
  const link = [
    '-shared',
    '-Wl,--no-as-needed',
    `-L${libtorch.libraries}`,
    `-Wl,-rpath,${libtorch.libraries}`,
  ];
  const libraries = ['-ltorch', '-ltorch_cpu', '-lc10', '-ldl'];
  if (libtorch.cuda) {
    system.push(...cudaHeaders(libtorch));
    defines.push('CRAB_CUDA');
    // CUDA's own libraries are found through these two.
    libraries.push('-ltorch_cuda', '-lc10_cuda');
  }
  const nvcc = libtorch.cuda ? findNvcc() : null;
  if (nvcc !== null) {
    defines.push('CRAB_CUDA_KERNELS');
    libraries.push('-lcudart');
    link.push(`-L${join(dirname(realpathSync(programPath(nvcc))), '../lib64')}`);
  }
  // Wheels bring an OpenMP runtime under a name of its own; only the system's can be shared.
  const openmp = libtorch.origin === 'the system' ? ['-fopenmp'] : [];
  const { gloo, ncclHeaders } = processGroups(libtorch);
  if (gloo) {
    defines.push('USE_C10D_GLOO');
    libraries.push('-lgloo');
  }
  if (ncclHeaders !== undefined) {
    defines.push('USE_C10D_NCCL');
    if (!system.includes(ncclHeaders) && ncclHeaders !== '/usr/include') system.push(ncclHeaders);
  }
  // Debian's libtorch takes whichever libblas.so.3 the system prefers. Naming OpenBLAS (OpenMP) as a
  // library of the addon loads it first, and libtorch then shares it.
  if (libtorch.origin === 'the system' && existsSync(OPENBLAS_OPENMP)) {
    link.unshift(`-Wl,-rpath,${OPENBLAS_OPENMP}`);
    const names = ['libblas.so.3', 'liblapack.so.3', 'libopenblas.so.0'];
    libraries.unshift(...names.map((name) => join(OPENBLAS_OPENMP, name)).filter(existsSync));
  }
  const standard = Number(libtorch.version.split('.')[0]) >= 2 ? '-std=c++20' : '-std=c++17';
  const compile = [
    ...[standard, '-O2', '-fPIC', '-Wall', '-Wextra', '-fvisibility=hidden', ...openmp],
    ...defines.map((name) => `-D${name}`),
    ...system.flatMap((folder) => ['-isystem', folder]),
  ];
  link.push(...openmp);
  if (OPTIONS.sanitize) {
    const flags = ['-fsanitize=address,undefined', '-fno-omit-frame-pointer', '-g'];
    compile.push(...flags);
    link.push(...flags);
  }
  // The GPUs at hand; the newest code is also kept in the form that later ones translate.
  const kernels = ['-O3', '-std=c++17', '-arch=native', '-Xcompiler', '-fPIC,-fvisibility=hidden'];
  return { compiler: process.env.CXX ?? 'g++', compile, link, libraries, nvcc, kernels };
}

function sources() {
  return readdirSync(NATIVE)
    .filter((name) => /\.(cc|cu|h)$/.test(name))
    .sort();
}

function stampOf(libtorch, steps) {
  const hash = createHash('sha256');
  for (const name of sources()) hash.update(name).update(readFileSync(join(NATIVE, name)));
  hash.update(JSON.stringify(steps)).update(libtorch.version).update(process.versions.modules);
  return {
    hash: hash.digest('hex'),
    version: libtorch.version,
    origin: libtorch.origin,
    cuda: libtorch.cuda,
  };
}

/** Tells how far the work is: in one line on a terminal, else in a line for each step. */
class Progress {
  #done = 0;

  constructor(steps) {
    this.steps = steps;
  }

  step(name) {
    this.#done += 1;
    const text = `${String(this.#done).padStart(3)} of ${this.steps}: ${name}`;
    if (!process.stdout.isTTY) console.log(text);
    else process.stdout.write(`\r\x1b[K${text}${this.#done === this.steps ? '\n' : ''}`);
  }
}

async function compileOne(steps, args, name, compiler = steps.compiler) {
  try {
    const { stderr } = await run(compiler, args, { maxBuffer: 1 << 26 });
    if (stderr) appendFileSync(LOG, `${name}:\n${stderr}\n`);
  } catch (error) {
    const said = error.stderr || error.message;
    appendFileSync(LOG, `${name} failed:\n${said}\n`);
    if (process.stdout.isTTY) console.log();
    throw new SetupError(`${name} did not compile:\n${said.trimEnd()}\nAll of it is in ${LOG}`);
  }
  steps.progress.step(name);
}

/** How many compilers run at once: one for each core, as far as there is memory for them. */
function parallelJobs() {
  const byMemory = Math.floor(freemem() / COMPILER_BYTES);
  return Math.max(1, Math.min(availableParallelism(), byMemory, 8));
}

/** Runs the jobs, several at a time. */
async function inParallel(jobs) {
  const queue = [...jobs];
  const worker = async () => {
    for (let job = queue.shift(); job; job = queue.shift()) await job();
  };
  await Promise.all(Array.from({ length: parallelJobs() }, worker));
}

/** Links to a temporary name first: a running program may have the old file open. */
async function link(steps, args, output) {
  const linked = `${output}.new`;
  await compileOne(steps, [...args, '-o', linked], basename(output));
  renameSync(linked, output);
}

async function build(libtorch, steps) {
  const objects = join(BUILD, 'objects');
  rmSync(objects, { recursive: true, force: true });
  mkdirSync(objects, { recursive: true });
  writeFileSync(LOG, '');
  const files = sources().filter((name) => name.endsWith('.cc'));
  const kernels = steps.nvcc === null ? [] : sources().filter((name) => name.endsWith('.cu'));
  // Beside the sources: the common header, and two libraries to link.
  steps = { ...steps, progress: new Progress(files.length + kernels.length + 3) };
  // handles.h, which every file includes, is compiled once.
  const prefix = join(objects, 'prefix.h');
  writeFileSync(prefix, `#include ${JSON.stringify(join(NATIVE, 'handles.h'))}\n`);
  await compileOne(
    steps,
    [...steps.compile, '-x', 'c++-header', prefix, '-o', `${prefix}.gch`],
    'handles.h',
  );
  const objectOf = (name) => join(objects, `${name}.o`);
  await inParallel(
    files.map((name) => () => {
      // The loader must not depend on libtorch, so it does without the common header.
      const common = name === LOADER ? [] : ['-include', prefix];
      const args = [...steps.compile, ...common, '-c', join(NATIVE, name), '-o', objectOf(name)];
      return compileOne(steps, args, name);
    }),
  );
  await inParallel(
    kernels.map((name) => () => {
      const args = [...steps.kernels, '-c', join(NATIVE, name), '-o', objectOf(name)];
      return compileOne(steps, args, name, steps.nvcc);
    }),
  );
  const core = [...files.filter((name) => name !== LOADER), ...kernels].map(objectOf);
  await link(steps, [...steps.link, ...core, ...steps.libraries], CORE);
  const loaderFlags = steps.link.filter(
    (flag) => flag === '-shared' || flag.startsWith('-fsanitize'),
  );
  await link(steps, [...loaderFlags, objectOf(LOADER), '-ldl'], ADDON);
  rmSync(objects, { recursive: true, force: true });
}

/** Loads the addon in a fresh process and does a small computation with a gradient. */
function check() {
  if (!existsSync(ADDON))
    throw new SetupError('the addon is not built: run this again without --check');
  const script = `
    const torch = require(${JSON.stringify(ADDON)});
    const op = (name, overload) => torch.findOperator('aten::' + name, overload);
    const x = torch.fromBytes(new Float32Array([1, 2, 3]), [3], 'f32', 'cpu');
    torch.setRequiresGrad(x, true);
    const y = torch.call(op('sum', ''), torch.call(op('mul', 'Tensor'), x, x));
    torch.backward([y], null, null, false, []);
    const gradient = new Float32Array(3);
    torch.copyToBytes(torch.gradient(x), gradient);
    if (gradient.join() !== '2,4,6') throw new Error('wrong gradient ' + gradient.join());
    const info = torch.runtimeInfo();
    console.log(JSON.stringify({ ...info, cuda: torch.hasCuda, devices: torch.cudaDeviceCount() }));`;
  let output;
  try {
    output = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  } catch (error) {
    throw new SetupError(
      `the addon does not work: ${String(error.stderr ?? error.message).trim()}`,
    );
  }
  const info = JSON.parse(output);
  const cuda = info.cuda ? `CUDA with ${info.devices} device(s)` : 'CPU only';
  console.log(`libtorch ${info.version}, ${cuda}; BLAS: ${info.blas}`);
  const reference = info.blasLibraries.some((path) => /\/blas\/libblas/.test(path));
  if (reference && !/openblas|mkl/i.test(info.blas)) {
    console.warn(
      'This is the reference BLAS, about 100 times slower: install libopenblas0-openmp.',
    );
  }
}

function installOnDebian() {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  console.log(`Installing ${DEBIAN_PACKAGES.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) =>
    execFileSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', ...DEBIAN_PACKAGES);
}

function isUpToDate(stamp) {
  if (![ADDON, CORE, STAMP].every((file) => existsSync(file))) return false;
  return JSON.parse(readFileSync(STAMP, 'utf8')).hash === stamp.hash;
}

/** Debian's libtorch alone comes with the reference BLAS, without Gloo's headers, or without a compiler. */
function debianIsIncomplete(libtorch, compiler) {
  const ofSystem = libtorch.origin === 'the system';
  const lacks = ofSystem && (!existsSync(OPENBLAS_OPENMP) || !existsSync('/usr/include/gloo'));
  return lacks || tryOutput(compiler, ['--version']) === null;
}

async function main() {
  if (OPTIONS.check) return check();
  let libtorch = findLibtorch();
  if (!libtorch || debianIsIncomplete(libtorch, process.env.CXX ?? 'g++')) {
    installOnDebian();
    libtorch = findLibtorch();
  }
  if (!libtorch) {
    throw new SetupError(
      'libtorch was not found: set LIBTORCH to its folder, install PyTorch for python3, or (Debian) libtorch-dev',
    );
  }
  const steps = plan(libtorch);
  const stamp = stampOf(libtorch, steps);
  if (OPTIONS['if-needed'] && isUpToDate(stamp)) return;
  console.log(`Building the torch addon with libtorch ${libtorch.version} of ${libtorch.origin}`);
  await build(libtorch, steps);
  if (!OPTIONS.sanitize) check();
  writeFileSync(STAMP, `${JSON.stringify(stamp, null, 2)}\n`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
