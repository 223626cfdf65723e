/** Rules that published models name, judged against the true ones. Needs the zoo. */
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openBundleSubject } from '../../src/lab/open-subject.js';
import { rulesNamed } from '../../src/lab/metrics/rules-named.js';
import { zooFolder } from '../../src/solver/node.js';

const PROBLEMS = 24;
const open = (name: string) => openBundleSubject(path.join(zooFolder(), name));

describe('rules named', () => {
  test('are the true ones, for every attribute, and several right answers are found', async () => {
    const subject = await open('grid-2x2');
    const found = await rulesNamed(subject, { problems: PROBLEMS, seed: 11 });
    await subject.dispose();
    expect(found).not.toBeNull();
    if (found === null) return;
    expect(found.byAttribute.map(({ attribute: { name } }) => name)).toEqual([
      'Num/Pos',
      'Type',
      'Size',
      'Color',
    ]);
    for (const { right, wrong, silent } of found.byAttribute) {
      expect(right + wrong + silent).toBeCloseTo(1);
    }
    const told = found.calibration.reduce((sum, { count }) => sum + count, 0);
    const silent = found.byAttribute.reduce((sum, each) => sum + each.silent, 0);
    expect(told + silent * PROBLEMS).toBeCloseTo(PROBLEMS * found.byAttribute.length);
    expect(found.right.value).toBeGreaterThan(0.9);
    expect(found.several?.right).toBeGreaterThan(0.8);
  });

  test('of another matrix are wrong ones', async () => {
    const subject = await open('center');
    const answers = subject.answers.bind(subject);
    // Each problem gets the answer to the one after it.
    subject.answers = async (asked, options) => {
      const given = await answers(asked, options);
      return given.map((_, n) => given[(n + 1) % given.length]);
    };
    const found = await rulesNamed(subject, { problems: PROBLEMS, seed: 11 });
    await subject.dispose();
    expect(found?.right.value).toBeLessThan(0.6);
    expect(found?.byAttribute.every(({ wrong }) => wrong > 0.2)).toBe(true);
  });
});
