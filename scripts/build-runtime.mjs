// Writes dist/runtime: the two WebAssembly builds of ONNX Runtime that this package uses, each as one
// ES module with everything in it. onnxruntime-web itself has 143 MB of builds, and finds its .wasm by an
// address that development servers such as Vite's do not keep; a module needs no address at all.
//
// Each module has ONNX Runtime's own exports, `glue` (the text of the script that starts the .wasm) and
// `compressed` (the .wasm, gzipped).
import { build } from 'esbuild';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const root = path.resolve(import.meta.dirname, '..');
const out = path.join(root, 'dist', 'runtime');
const source = path.dirname(createRequire(import.meta.url).resolve('onnxruntime-web'));

/** `jspi` waits for the GPU by JavaScript Promise Integration. */
const MODULES = {
  wasm: { api: 'ort.wasm.min.mjs', engine: 'ort-wasm-simd-threaded' },
  webgpu: { api: 'ort.jspi.min.mjs', engine: 'ort-wasm-simd-threaded.jspi' },
};

/** Gives esbuild the glue as a text and the .wasm as compressed bytes. */
const embedded = {
  name: 'embedded',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^embedded:/ }, ({ path: name }) => ({
      path: path.join(source, name.slice('embedded:'.length)),
      namespace: 'embedded',
    }));
    onLoad({ filter: /\.mjs$/, namespace: 'embedded' }, ({ path: file }) => ({
      contents: readFileSync(file),
      loader: 'text',
    }));
    onLoad({ filter: /\.wasm$/, namespace: 'embedded' }, ({ path: file }) => ({
      contents: gzipSync(readFileSync(file), { level: 9 }),
      loader: 'binary',
    }));
  },
};

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const [name, { api, engine }] of Object.entries(MODULES)) {
  await build({
    stdin: {
      contents: `
        export { env, InferenceSession, Tensor } from ${JSON.stringify(`./${api}`)};
        export { default as glue } from 'embedded:${engine}.mjs';
        export { default as compressed } from 'embedded:${engine}.wasm';`,
      resolveDir: source,
    },
    outfile: path.join(out, `${name}.js`),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    legalComments: 'inline',
    plugins: [embedded],
    logLevel: 'error',
  });
}
// Node cannot import the glue from a text.
writeFileSync(
  path.join(out, 'wasm-glue.mjs'),
  readFileSync(path.join(source, `${MODULES.wasm.engine}.mjs`)),
);
// The npm package of ONNX Runtime comes without the text of its licence.
writeFileSync(
  path.join(out, 'LICENSE'),
  readFileSync(path.join(root, 'scripts', 'onnxruntime-licence.txt')),
);
