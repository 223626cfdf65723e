// Prints "N passed, N failed, N skipped" from Vitest's JSON report, alone on the last line.
// A suite that failed to load counts as one failure, a missing report as one too.
import { readFileSync } from 'node:fs';

let passed = 0;
let failed = 0;
let skipped = 0;
try {
  const report = JSON.parse(readFileSync(process.argv[2] ?? 'build/test-results.json', 'utf8'));
  for (const suite of report.testResults) {
    if (suite.status === 'failed' && suite.assertionResults.length === 0) failed += 1;
    for (const test of suite.assertionResults) {
      if (test.status === 'passed') passed += 1;
      else if (test.status === 'failed') failed += 1;
      else skipped += 1;
    }
  }
} catch {
  failed = 1;
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
