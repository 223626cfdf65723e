// Prints from Vitest's JSON report how long the tests of each folder took, as a Markdown table, which tests passed
// only when they were tried again, and then "N passed, N failed, N skipped" alone on the last line. A suite that
// failed to load counts as one failure, a missing report as one too.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const counts = { passed: 0, failed: 0, skipped: 0 };
/** Seconds and number of tests by folder of `test`. */
const folders = new Map();
const again = [];
const tests = path.resolve(import.meta.dirname, '..', 'test');

try {
  const report = JSON.parse(readFileSync(process.argv[2] ?? 'build/test-results.json', 'utf8'));
  for (const { name, status, assertionResults, startTime, endTime } of report.testResults) {
    if (status === 'failed' && assertionResults.length === 0) counts.failed += 1;
    for (const test of assertionResults) {
      counts[test.status in counts ? test.status : 'skipped'] += 1;
      const [fault] = test.failureMessages ?? [];
      if (test.status === 'passed' && fault !== undefined) {
        again.push(`${path.relative(tests, name)}, ${test.fullName}: ${fault.split('\n')[0]}`);
      }
    }
    const [folder] = path.relative(tests, name).split(path.sep);
    const so = folders.get(folder) ?? { files: 0, tests: 0, seconds: 0 };
    so.files += 1;
    so.tests += assertionResults.length;
    so.seconds += (endTime - startTime) / 1000;
    folders.set(folder, so);
  }
} catch {
  counts.failed = 1;
}
if (folders.size > 0) console.log('| folder | files | tests | seconds |\n|---|---:|---:|---:|');
for (const [folder, so] of [...folders].sort(([, a], [, b]) => b.seconds - a.seconds)) {
  console.log(`| ${folder} | ${so.files} | ${so.tests} | ${so.seconds.toFixed(0)} |`);
}
if (again.length > 0) console.log(`passed only when tried again:\n${again.join('\n')}`);
const { passed, failed, skipped } = counts;
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
