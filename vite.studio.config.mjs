// Builds the page into dist/studio: a folder that works on any static web host, at any path. Beside it:
// ONNX Runtime's own files, the licences of the fonts, the service worker with the list of the page's files,
// and the zoo.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { transform } from 'esbuild';
import { defineConfig } from 'vite';

const root = import.meta.dirname;
const out = path.join(root, 'dist', 'studio');
/** ONNX Runtime as scripts/build-runtime.mjs wrote it. */
const runtime = path.join(root, 'dist', 'runtime');

/** The worker loads it as it is, from the folder beside its own: see `copyRuntime`. */
const runtimeBeside = {
  name: 'runtime-beside',
  enforce: 'pre',
  resolveId(id, importer) {
    const file = path.resolve(path.dirname(importer ?? root), id);
    if (path.dirname(file) !== runtime) return null;
    return { id: `../runtime/${path.basename(file)}`, external: true };
  },
};

function copyRuntime() {
  for (const file of ['wasm.js', 'webgpu.js', 'LICENSE']) {
    cpSync(path.join(runtime, file), path.join(out, 'runtime', file));
  }
}

/** The packages of the fonts in src/studio/styles/fonts.css; their licence travels with them. */
const FONTS = [
  '@fontsource-variable/inter',
  '@fontsource/source-serif-4',
  '@fontsource/source-code-pro',
];

function copyLicences() {
  mkdirSync(path.join(out, 'licences'), { recursive: true });
  cpSync(path.join(root, 'LICENSE'), path.join(out, 'licences', 'crab-raven.txt'));
  cpSync(path.join(root, 'README.md'), path.join(out, 'documentation.txt'));
  for (const font of FONTS) {
    const licence = path.join(root, 'node_modules', font, 'LICENSE');
    cpSync(licence, path.join(out, 'licences', `${path.basename(font)}.txt`));
  }
}

/** The zoo, where there is one, with an index of it. */
function copyZoo() {
  const zoo = path.join(root, 'zoo');
  const isBundle = (name) => existsSync(path.join(zoo, name, 'bundle.json'));
  const namesIn = (folder) =>
    existsSync(path.join(zoo, folder)) ? readdirSync(path.join(zoo, folder)).sort() : [];
  mkdirSync(path.join(out, 'zoo'), { recursive: true });
  const entryOf = (name) => {
    cpSync(path.join(zoo, name), path.join(out, 'zoo', name), { recursive: true });
    const manifest = JSON.parse(readFileSync(path.join(zoo, name, 'bundle.json'), 'utf8'));
    const bytes = Object.values(manifest.files).reduce((sum, file) => sum + file.bytes, 0);
    return { name, configuration: manifest.configuration, noisy: manifest.noisy, bytes };
  };
  const bundles = namesIn('').filter(isBundle).map(entryOf);
  // Other systems have a folder each, as src/solver/bundle.ts lists them.
  const others = ['transformer'].flatMap((system) =>
    namesIn(system)
      .map((name) => `${system}/${name}`)
      .filter(isBundle)
      .map((name) => ({ ...entryOf(name), system })),
  );
  writeFileSync(
    path.join(out, 'zoo', 'index.json'),
    `${JSON.stringify({ bundles, ...(others.length > 0 && { others }) })}\n`,
  );
}

/** The service worker, told which files the page consists of. */
async function writeServiceWorker(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(path.join(out, file)));
  const shell = { version: hash.digest('hex').slice(0, 12), files: ['./', ...files] };
  const source = readFileSync(path.join(root, 'src', 'studio', 'service-worker.ts'), 'utf8');
  const { code } = await transform(source, {
    loader: 'ts',
    format: 'iife',
    minify: true,
    define: { SHELL: JSON.stringify(shell) },
  });
  writeFileSync(path.join(out, 'service-worker.js'), code);
}

const besidePage = {
  name: 'beside-the-page',
  async writeBundle(_, bundle) {
    const files = Object.keys(bundle).filter((file) => statSync(path.join(out, file)).isFile());
    copyRuntime();
    copyLicences();
    copyZoo();
    await writeServiceWorker(files.sort());
  },
};

/** What CITATION.cff says of the paper: its own lines are the only place these facts are kept. */
function citation() {
  const lines = readFileSync(path.join(root, 'CITATION.cff'), 'utf8').split(
    'preferred-citation:',
  )[1];
  const all = (key) =>
    [...lines.matchAll(new RegExp(`${key}: ['"]?(.+?)['"]?$`, 'gm'))].map((match) => match[1]);
  const given = all('given-names');
  return {
    title: all('title')[0],
    authors: all('family-names').map((family, i) => ({ family, given: given[i] })),
    year: Number(all('year')[0]),
    url: all('url')[0],
  };
}

/** Accuracies of docs/measured, those of the README, by the hash of the manifest they were measured on. */
function measured() {
  const folder = path.join(root, 'docs', 'measured');
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const entries = files.map((file) => {
    const { conditions, selection } = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
    const fresh = selection.filter(({ seed }) => seed !== undefined);
    return [
      conditions.bundle,
      Object.fromEntries(fresh.map(({ variant, sa }) => [variant, sa.value])),
    ];
  });
  return Object.fromEntries(entries);
}

export default defineConfig({
  root: path.join(root, 'src', 'studio'),
  base: './',
  publicDir: false,
  define: { CITATION: JSON.stringify(citation()), MEASURED: JSON.stringify(measured()) },
  plugins: [besidePage],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: {
    format: 'es',
    plugins: () => [runtimeBeside],
  },
});
