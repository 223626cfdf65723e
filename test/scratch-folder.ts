/** Folders for what tests write. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, onTestFinished, TestRunner } from 'vitest';

/**
 * A folder that is removed after the test that asks for it (itself, or in a `beforeEach`); asked for
 * outside of tests, after all tests of the file or of the `describe`.
 */
export function scratchFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'crab-test-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  if (TestRunner.getCurrentTest() === undefined) afterAll(remove);
  else onTestFinished(remove);
  return folder;
}

/** Paths in such a folder, by their names. */
export function scratchPlaces(): (...names: readonly string[]) => string {
  const folder = scratchFolder();
  return (...names) => path.join(folder, ...names);
}
