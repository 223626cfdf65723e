import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);

const text = readFileSync(new URL('docs/paper.md', root), 'utf8');

test('every file that docs/paper.md names exists', () => {
  const named = [...text.matchAll(/`([a-z-]+(?:\/[a-z0-9-]+)+\.ts)`/g)].map(([, file]) => file);
  expect(named.length).toBeGreaterThan(20);
  const missing = named.filter((file) => !existsSync(new URL(`src/${file}`, root)));
  expect(missing).toEqual([]);
});

test('every picture that docs/paper.md shows exists, and every kept one is shown', () => {
  const shown = [...text.matchAll(/\]\((images\/[^)]+\.png)\)/g)].map(([, file]) => file);
  expect(shown.filter((file) => !existsSync(new URL(`docs/${file}`, root)))).toEqual([]);
  const kept = readdirSync(new URL('docs/images/paper', root)).map(
    (name) => `images/paper/${name}`,
  );
  expect(kept.filter((file) => !shown.includes(file))).toEqual([]);
  expect(kept).toEqual(expect.arrayContaining(['images/paper/noise.png']));
});
