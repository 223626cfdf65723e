/** Replies of models, and the letter that a person reads in each; null if they name none or several. */
import { describe, expect, test } from 'vitest';
import { readLetter } from '../../../src/lab/grade/read-letter.js';

const EIGHT = [...'ABCDEFGH'];

describe.each<[string, [reply: string, letter: string | null][]]>([
  [
    'nothing but the letter',
    [
      ['C', 'C'],
      ['c', 'C'],
      [' (c) ', 'C'],
      ['A', 'A'],
      ['**D.**', 'D'],
      ['"E"', 'E'],
      ['Option F', 'F'],
      ['（Ｃ）', 'C'],
      ['【G】', 'G'],
    ],
  ],
  [
    'a marked answer',
    [
      ['Therefore \\boxed{H}', 'H'],
      ['So $\\boxed{\\text{B}}$.', 'B'],
      ['Answer: A? No. <answer>F</answer>', 'F'],
      ['<answer>f</answer>', 'F'],
      ['<answer>Option D: a grey hexagon</answer>', 'D'],
      ['<answer>The answer is C.</answer>', 'C'],
      ['{"reasoning": "option A is wrong", "answer": "B"}', 'B'],
      ['{"answer": "(b)"}', 'B'],
      ['{"reasoning": "…", "answer": 3}', 'C'],
      ['{"answer": "3"}', 'C'],
      ['{"answer": 9}', null],
    ],
  ],
  [
    'a sentence that chooses',
    [
      ['The rows grow.\n\nAnswer: B', 'B'],
      ['Answer: **B**.', 'B'],
      ['**Answer:** B', 'B'],
      ['**Answer**: B', 'B'],
      ['ANSWER: G', 'G'],
      ['Answer: F (a grey hexagon)', 'F'],
      ['Answer: C, D and E are wrong because they are too small.', 'C'],
      ['Answer: B, not C', 'B'],
      ['Answer: C. A hexagon completes the row.', 'C'],
      ['At first I would choose A. But the final answer is D because the size grows.', 'D'],
      ['I was torn between option B and option C. The answer is C.', 'C'],
      ['So the answer is option (E).', 'E'],
      ['**B** is the correct answer.', 'B'],
      ['Option C is the one that fits.', 'C'],
      ['The answer is A because the size grows.', 'A'],
      ['Option A fits.', 'A'],
      ['A is correct.', 'A'],
      ['Row three needs a white square.\nG', 'G'],
      ['Only option E has the right size.', 'E'],
      ['I see (B), which fits.', 'B'],
    ],
  ],
  [
    'another language',
    [
      ['答案是 F', 'F'],
      ['答案是F。', 'F'],
      ['答案：F', 'F'],
      ['答案为（F）', 'F'],
      ['因此，正确答案是选项 F，因为形状相同。', 'F'],
      ['第三行需要白色正方形，所以选择 D。', 'D'],
      ['故选B', 'B'],
      ['答えは C です。', 'C'],
      ['정답은 C입니다.', 'C'],
      ['Die Antwort ist D.', 'D'],
      ['La réponse est E.', 'E'],
      ['答案是 B 或 C', null],
      ['答案是六边形', null],
    ],
  ],
  [
    'several letters',
    [
      ['(B) or (C)', null],
      ['B or C', null],
      ['B, C', null],
      ['B/C', null],
      ['Answer: (B) or (C)', null],
      ['Answer: B or C', null],
      ['Answer: B, C', null],
      ['Answer: (B), or possibly (C)', null],
      ['Answer: B (or C)', null],
      ['Answer: B\nor maybe C', null],
      ['The answer is (B) or (C), I am not sure.', null],
      ['The answer is either (B) or (C).', null],
      ['The answer: (B) and (C) both look right.', null],
      ['Either option B or option C.', null],
      ['B or C is correct.', null],
      ['<answer>B or C</answer>', null],
      ['Answer: B. <answer>(B) or (C)</answer>', null],
      ['\\boxed{B \\text{ or } C}', null],
      ['{"answer": "B or C"}', null],
      ['Option A and option B look alike.', null],
      ['The answer is A or B.', null],
      ['Answer: B or B', 'B'],
    ],
  ],
  [
    'no letter of the item',
    [
      ['The answer is a hexagon.', null],
      ['The answer is A hexagon with grey colour', null],
      ['Option A is wrong.\nOption B is too small.', null],
      ['I cannot tell.', null],
      ['I', null],
      ['', null],
      ['Answer: Z', null],
    ],
  ],
])('%s', (_, replies) => {
  test.each(replies)('%j is %j', (reply, expected) => {
    expect(readLetter(reply, EIGHT)).toBe(expected);
  });
});

test('a letter or number that the item does not have is no choice', () => {
  expect(readLetter('Answer: F', [...'ABCD'])).toBeNull();
  expect(readLetter('{"answer": 5}', [...'ABCD'])).toBeNull();
});

test('a long reply of many letters is read too', () => {
  const reply = `${'(A), (B) or (C) and '.repeat(20_000)}\nAnswer: D`;
  expect(readLetter(reply, EIGHT)).toBe('D');
});
