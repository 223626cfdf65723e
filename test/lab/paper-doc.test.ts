import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);

test('every file that docs/paper.md names exists', () => {
  const text = readFileSync(new URL('docs/paper.md', root), 'utf8');
  const named = [...text.matchAll(/`([a-z-]+(?:\/[a-z0-9-]+)+\.ts)`/g)].map(([, file]) => file);
  expect(named.length).toBeGreaterThan(20);
  const missing = named.filter((file) => !existsSync(new URL(`src/${file}`, root)));
  expect(missing).toEqual([]);
});
