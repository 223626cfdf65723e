import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (file: string): string =>
  readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');

// The page runs in a browser and the server in Node, so neither imports the other: each has its copy.
test.each(['train-api.ts', 'zoo-index.ts'])('page and server agree on %s', (file) => {
  expect(read(`server/${file}`)).toBe(read(`studio/${file}`));
});
