import { describe, expect, test } from 'vitest';
import { makeRecord, PANELS_ONLY } from '../../src/training/feed/record.js';
import {
  drawInBatchChoice,
  makeValidationProblems,
  validationSource,
} from '../../src/training/validation/problems.js';

const PANEL_PIXELS = 64 * 64;
const PROBLEM_BYTES = PANELS_ONLY.bytes;
const training = { configuration: 'grid-2x2', noisy: false, seed: 4 } as const;

describe('validation problems', () => {
  test('come from seeds that training does not use, and always the same', async () => {
    const source = validationSource(training);
    expect(source.seed).not.toBe(training.seed);
    const [once, again] = [
      await makeValidationProblems(source, 12, 64),
      await makeValidationProblems(source, 12, 64),
    ];
    expect(once.panels).toEqual(again.panels);
    const same = new Uint8Array(PROBLEM_BYTES);
    makeRecord(PANELS_ONLY, source, 7, same, 0);
    expect(once.panels.subarray(7 * PROBLEM_BYTES, 8 * PROBLEM_BYTES)).toEqual(same);
    const trained = new Uint8Array(PROBLEM_BYTES);
    makeRecord(PANELS_ONLY, training, 7, trained, 0);
    expect(trained).not.toEqual(same);
  });

  test('the answer among the candidates is panel 9, in both variants', async () => {
    const problems = await makeValidationProblems(validationSource(training), 20, 64);
    for (let n = 0; n < 20; n++) {
      const last = problems.panels.subarray((n * 9 + 8) * PANEL_PIXELS, (n * 9 + 9) * PANEL_PIXELS);
      for (const images of Object.values(problems.candidates)) {
        const at = (n * 8 + problems.answers[n]) * PANEL_PIXELS;
        expect(images.subarray(at, at + PANEL_PIXELS)).toEqual(last);
      }
    }
    expect(problems.candidates.raven).not.toEqual(problems.candidates['i-raven']);
  });

  test('in-batch choices offer the right problem once, at a random place', () => {
    const count = 400;
    const { targets, offered, answers } = drawInBatchChoice(3, count);
    const places = new Array<number>(8).fill(0);
    for (let n = 0; n < count; n++) {
      const row = [...offered.subarray(n * 8, n * 8 + 8)];
      expect(new Set(row).size).toBe(8);
      expect(row[answers[n]]).toBe(n);
      places[answers[n]]++;
    }
    expect(new Set(targets).size).toBe(9);
    expect(Math.min(...places)).toBeGreaterThan(20);
  });

  test('fewer problems than candidates: all are offered', () => {
    const { offered } = drawInBatchChoice(3, 3);
    expect([...offered.subarray(0, 3)].sort()).toEqual([0, 1, 2]);
  });
});
