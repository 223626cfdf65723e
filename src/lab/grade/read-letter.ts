/**
 * Finds the letter that a model chose in its reply. The rules, the first that finds one decides:
 *
 * 1. the reply is nothing but the letter: `C`, `(C)`, `**C.**`, `Option C`;
 * 2. what stands in the last `<answer>…</answer>` or `\boxed{…}`, read by these rules; a number counts
 *    options from 1;
 * 3. the same for the last `"answer": …` of a JSON reply;
 * 4. the last "answer: C", "答案是 C", "choose C", "C is correct" and the like;
 * 5. the last line is nothing but the letter;
 * 6. only one letter is named at all as an option: "option C", "(C)".
 *
 * Outside rules 1 to 3 a letter is a capital and ends the phrase, so that the article "A" is none. If the
 * rule that decides finds several letters ("B or C"), nothing was chosen. A letter that the item does not
 * have is no choice.
 */

/** A capital that is a letter of its own, and not the article of what follows. */
const AFTER = '(?:because|since|as|is|completes|fits|or|and)\\b';
const LETTER = `(?:[B-HJ-Z](?![A-Za-z])|[AI](?![A-Za-z]| (?!${AFTER})[a-z]))`;
const TOKEN = `(?:(?:(?:option|choice|letter) |选项 ?)\\(?[A-Z](?![A-Za-z])\\)?|\\([A-Z]\\)|${LETTER})`;
const OR = '(?: (?:or|and|oder|und|ou|et|y) | ?(?:[/&|]|或者?|和|与|及|か) ?)';
/** One letter, or several side by side: no item has more than 26. */
const LETTERS = `${TOKEN}(?:(?:${OR}|[,、] ?(?:(?:or|and) )?)${TOKEN}){0,25}`;
const ALONE = new RegExp(`^ ?(?:(?:answer|option|choice):? )?(${LETTERS})[.,:;!。]? ?$`);

const NO = '\\w+ (?:\\w+ )?(?:not|no|wrong|incorrect|too|out|eliminated|impossible)\\b';
const REASON = `(?!${NO})(?:because|since|as|is|completes|fits)\\b`;
const HEDGE = `[ ,;(\\n–—-]*\\bor (?:maybe |perhaps |possibly )?${TOKEN}`;
const ENDS = `(?!\\)|${OR}${TOKEN}|, and ${TOKEN}|${HEDGE})(?= ?(?:$|\\n|[.,:;!?。、的でだ因]|입|이|[-–—(])| ${REASON})`;
const IS = '(?:is|are|would be|should be|must be|ist|est|es)';
const SAYS = [
  `\\b(?:answer|choice|choose|option|select|pick|antwort|réponse|respuesta)(?: ${IS})?`,
  '(?:答案|正解|答え|정답) ?(?:是|应该是|为|は|은)?',
  '[选選][择擇项項]?',
].join('|');
const SAID = new RegExp(
  `(?:${SAYS})\\s?:?\\s?(${LETTERS})${ENDS}|(?<![A-Za-z])(${LETTERS}) ${IS} (?:(?:the|my) )?(?:correct|right|best|final|answer|missing)\\b`,
  'g',
);
const NAMED = /\boption ([A-Z])\b|\(([A-Z])\)/g;
const TAGGED = [
  /<answer>([^<]*)<\/answer>/gi,
  /\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}/g,
  /"answer"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(\d+))/gi,
];
const WORDS = /\b(?:answer|choice|choose|option|letter|select|pick|antwort|réponse|respuesta)\b/gi;

/** A reply without quotes and markdown, full-width signs as plain ones, spaces one at a time. */
const plain = (reply: string): string =>
  reply
    .normalize('NFKC')
    .replace(/\\(?:text|mathrm|textbf)\b|[*_`$#"'“”‘’「」『』【】[\]{}]/g, '')
    .replace(WORDS, (word) => word.toLowerCase())
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim();

/** The letters that stand by themselves in a piece of text. */
const lettersIn = (text = ''): string[] => text.match(/(?<![A-Za-z])[A-Z](?![A-Za-z])/g) ?? [];

function lastOf(text: string, pattern: RegExp): string | undefined {
  const last = [...text.matchAll(pattern)].at(-1);
  return last?.slice(1).find((group) => group !== undefined);
}

/** What a tag or a value of JSON holds: a number counts options from 1, and one they lack is none. */
function lettersInside(content: string | undefined, letters: readonly string[]): string[] {
  if (content === undefined) return [];
  const number = /^\s*(\d+)\s*$/.exec(content)?.[1];
  return number === undefined ? lettersOf(content, letters) : [letters[Number(number) - 1] ?? '?'];
}

/** The letters that the first rule that finds any finds. */
function lettersOf(reply: string, letters: readonly string[]): string[] {
  const text = plain(reply);
  const rules = [
    () => lettersIn(/^\(?([a-z])\)?\.?$/.exec(text)?.[1].toUpperCase()),
    () => lettersIn(ALONE.exec(text)?.[1]),
    ...TAGGED.map((pattern) => () => lettersInside(lastOf(reply, pattern), letters)),
    () => lettersIn(lastOf(text, SAID)),
    () => lettersIn(ALONE.exec(text.split('\n').at(-1) ?? '')?.[1]),
    () => [...text.matchAll(NAMED)].map((match) => match[1] ?? match[2]),
  ];
  for (const rule of rules) {
    const found = rule();
    if (found.length > 0) return found;
  }
  return [];
}

/** The letter that a reply chooses among those of the item; null if it names none or several. */
export function readLetter(reply: string, letters: readonly string[]): string | null {
  const [letter, ...others] = new Set(lettersOf(reply, letters));
  return others.length === 0 && letters.includes(letter) ? letter : null;
}
