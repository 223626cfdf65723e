/** Numbers with what they count. */
import { expect, test } from 'vitest';
import { counted } from '../../src/base/index.js';

test('one is one, all others are many', () => {
  expect([0, 1, 2].map((count) => counted(count, 'item'))).toEqual([
    '0 items',
    '1 item',
    '2 items',
  ]);
  expect([1, 2].map((count) => counted(count, 'reply', 'replies'))).toEqual([
    '1 reply',
    '2 replies',
  ]);
});
