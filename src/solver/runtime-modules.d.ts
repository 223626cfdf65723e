/** What scripts/build-runtime.mjs writes has no types: `web-runtime.ts` says what is in it. */
declare module '*/dist/runtime/wasm.js';
declare module '*/dist/runtime/webgpu.js';
