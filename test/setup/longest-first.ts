/**
 * Starts files that take long before the others, so that none of them is left to run alone at the end. These
 * are the ones whose tests start processes, pages and ranks and wait for them; large files come before small.
 */
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const TESTS = path.resolve(import.meta.dirname, '..');
const LONG = ['training', 'studio', 'server'];

const isLong = ({ moduleId }: TestSpecification): boolean =>
  LONG.includes(path.relative(TESTS, moduleId).split(path.sep)[0]);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
