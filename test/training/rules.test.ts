/** Training with fixed rules or a regime: what is stored, refused, and learned from. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { isTorchAvailable } from '../../src/torch/index.js';
import { train } from '../../src/training/index.js';
import { parseRunConfig } from '../../src/training/config.js';
import { sourceOf } from '../../src/training/session.js';
import { scratchFolder } from '../scratch-folder.js';
import { tinyRun } from './tiny.js';

describe.skipIf(!isTorchAvailable())('a run with a regime', () => {
  const folder = scratchFolder();

  test('stores it, trains, and its problems follow it', async () => {
    const out = path.join(folder, 'run');
    const rules = { regime: 'a-type' };
    const budget = { kind: 'steps', steps: 12 } as const;
    const { finished } = await train(tinyRun(out, { rules, budget }), {});
    expect(finished).toBe(true);
    const file = path.join(out, 'config.json');
    const config = parseRunConfig(readFileSync(file, 'utf8'), file);
    expect(config.data).toMatchObject({ kind: 'stream', rules });
    expect(sourceOf(config).rules).toEqual(rules);
    const name = readdirSync(out).find((each) => /^rules-0*12\.json$/.test(each)) ?? '';
    const snapshot = JSON.parse(readFileSync(path.join(out, name), 'utf8')) as {
      truth: { name: string }[][][];
    };
    expect(snapshot.truth.every(([[, type]]) => type.name === 'Constant')).toBe(true);
  });

  test('rules that do not fit are refused before anything is written', async () => {
    const out = path.join(folder, 'refused');
    const wrong = tinyRun(out, { rules: { rules: [{ number: 'progression' }] } });
    await expect(train(wrong, {})).rejects.toThrow(/rules\[0\].number/);
    await expect(train(tinyRun(out, { rules: { regime: 'x' } }), {})).rejects.toThrow(/regime/);
  });
});
