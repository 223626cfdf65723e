/**
 * Finds the letter that a model chose in its reply. The rules, the first that finds one decides:
 *
 * 1. the reply is nothing but the letter: `C`, `(C)`, `**C.**`, `Option C`;
 * 2. the last `<answer>C</answer>` or `\boxed{C}`;
 * 3. the last `"answer": "C"` of a JSON reply; a number counts options from 1;
 * 4. the last "answer: C", "answer is option C", "choose C" and the like;
 * 5. the last line is nothing but the letter;
 * 6. only one letter is named at all as an option: "option C", "(C)".
 *
 * Outside rules 1 to 3 a letter is a capital and ends the phrase, so that the article "A" is none. A
 * letter that the item does not have is no choice.
 */

const LETTER = '([A-Z])';
/** What may stand around a letter: brackets, quotes and markdown. */
const OPEN = '[\\s("\'*_`\\[{$]*';
const CLOSE = '[\\s)"\'*_`\\]}$.,:;!]*';
const ALONE = new RegExp(`^${OPEN}(?:option|answer|choice)?:?${OPEN}([A-Za-z])${CLOSE}$`, 'i');
const TAGGED = [
  new RegExp(`<answer>${OPEN}(?:option\\s+)?([A-Za-z])${CLOSE}</answer>`, 'gi'),
  new RegExp(`\\\\boxed\\{${OPEN}(?:\\\\text\\{)?(?:option\\s+)?([A-Za-z])${CLOSE}\\}`, 'gi'),
];
const JSON_ANSWER = /"answer"\s*:\s*(?:"\s*(?:option\s+)?([A-Za-z]|\d)\s*"|(\d)\b)/gi;
const SAID = new RegExp(
  `(?:answer|choice|choose|option|select|pick)(?:\\s+(?:is|would be|should be|must be))?:?(?:\\s+(?:option|choice|letter))?:?${OPEN}${LETTER}(?=${CLOSE}(?:$|\\n|[.,;:!)*"']|\\s+(?:because|since|as|is|completes|fits)\\b))`,
  'g',
);
const NAMED = [new RegExp(`[Oo]ption\\s+${LETTER}\\b`, 'g'), /\(([A-Z])\)/g];

const lastOf = (text: string, pattern: RegExp): RegExpMatchArray | undefined =>
  [...text.matchAll(pattern)].at(-1);

function candidatesOf(reply: string, letters: readonly string[]): (string | undefined)[] {
  const json = lastOf(reply, JSON_ANSWER);
  const value = json?.[1] ?? json?.[2];
  const phrase = lastOf(
    reply.replace(/\b(Answer|Choice|Choose|Option|Select|Pick)\b/gi, (word) => word.toLowerCase()),
    SAID,
  );
  const named = new Set(NAMED.flatMap((pattern) => [...reply.matchAll(pattern)].map((m) => m[1])));
  return [
    ALONE.exec(reply)?.[1],
    TAGGED.map((pattern) => lastOf(reply, pattern)?.[1]).find((letter) => letter !== undefined),
    value !== undefined && /\d/.test(value) ? letters[Number(value) - 1] : value,
    phrase?.[1],
    ALONE.exec(reply.trimEnd().split('\n').at(-1) ?? '')?.[1],
    named.size === 1 ? [...named][0] : undefined,
  ];
}

/** The letter that a reply chooses among those of the item, or null. */
export function readLetter(reply: string, letters: readonly string[]): string | null {
  const found = candidatesOf(reply, letters).find((letter) => letter !== undefined);
  const letter = found?.toUpperCase();
  return letter !== undefined && letters.includes(letter) ? letter : null;
}
