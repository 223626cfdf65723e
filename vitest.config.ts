import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { compiledSources } from './test/setup/compiled-sources.js';
import { LongestFirst } from './test/setup/longest-first.js';

export default defineConfig({
  plugins: [compiledSources()],
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/compiled-sources.ts'],
    setupFiles: ['test/setup/fast-equality.ts'],
    // Only what hangs should fail: a busy machine may take a minute for what takes a second.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // One race among thousands of tests should not stop a change; count-tests.mjs names who needed it.
    retry: process.env.CI ? 1 : 0,
    pool: 'forks',
    // Two more than there are cores: tests wait for processes, pages and time-outs half of their time.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    reporters: process.env.CI ? ['default', 'json'] : ['default'],
    outputFile: { json: 'build/test-results.json' },
  },
});
