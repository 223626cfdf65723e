import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { decodePng, type VlmItem } from '../../src/matrix/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { crab } from './run-crab.js';

const root = scratchFolder();
let places = 0;
const fresh = (): string => path.join(root, `out-${places++}`);
const generate = (...args: string[]) => crab(['generate', '--quiet', '--format', 'vlm', ...args]);
const lines = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');
const records = <T>(file: string): T[] => lines(file).map((line) => JSON.parse(line) as T);

interface Written extends VlmItem {
  readonly image: string;
  readonly blind_image?: string;
  readonly tiles?: Readonly<Record<string, string>>;
}

test('items have a picture, tiles, a table and questions of perception', async () => {
  const out = fresh();
  const args = ['--config', 'left-right', '--variant', 'i-raven', '--count', '3', '--seed', '4'];
  args.push('--options', '4', '--size', '160', '--tiles', '--blind', '--out', out);
  expect((await generate(...args)).stderr).toBe('');
  const folder = path.join(out, 'left-right');
  const items = records<Written>(path.join(folder, 'items.jsonl'));
  expect(items.map(({ id }) => id)).toEqual([0, 1, 2].map((i) => `left-right-0000${i}`));
  for (const item of items) {
    const { width, height } = decodePng(readFileSync(path.join(folder, item.image)));
    // Four panels of 160 with gaps and margins; three rows, and one of options.
    expect([width, height]).toEqual([4 * 160 + 3 * 16 + 64, 32 + 3 * 168 - 8 + 36 + 160 + 18 + 32]);
    const alone = decodePng(readFileSync(path.join(folder, item.blind_image ?? '')));
    expect([alone.width, alone.height]).toEqual([width, 32 + 160 + 18 + 32]);
    expect(Object.keys(item.tiles ?? {})).toEqual([...'12345678ABCD']);
    for (const tile of Object.values(item.tiles ?? {})) {
      expect(decodePng(readFileSync(path.join(folder, tile))).width).toBe(160);
    }
  }
  const [header, ...rows] = lines(path.join(folder, 'items.tsv')).map((line) => line.split('\t'));
  expect(header).toEqual([...'index image question A B C D answer category id'.split(' ')]);
  expect(rows.map((row) => row[header.indexOf('answer')])).toEqual(
    items.map(({ answer }) => answer),
  );
  const picture = Buffer.from(rows[1][1], 'base64');
  expect(picture.equals(readFileSync(path.join(folder, items[1].image)))).toBe(true);
  const asked = records<{ id: string; answer: string; options: Record<string, string> }>(
    path.join(folder, 'perception.jsonl'),
  );
  expect(asked.length).toBeGreaterThanOrEqual(3);
  for (const { answer, options } of asked) expect(options[answer]).toBeDefined();

  // What is lost is made again, and nothing else changes.
  const before = readFileSync(path.join(folder, 'items.jsonl'), 'utf8');
  rmSync(path.join(folder, items[2].image));
  rmSync(path.join(folder, 'items.jsonl'));
  const { stdout } = await generate(...args, '--resume');
  expect(stdout).toMatch(/^1 problem, 2 were there already/);
  expect(readdirSync(path.join(folder, 'pictures'))).toHaveLength(3);
  expect(readFileSync(path.join(folder, 'items.jsonl'), 'utf8')).toBe(before);
});

test('the layout of ml-rpm-bench has its own size', async () => {
  const out = fresh();
  const args = ['--config', 'center', '--count', '1', '--layout', 'ml-rpm-bench', '--tiles'];
  expect((await generate(...args, '--out', out)).stderr).toBe('');
  const file = path.join(out, 'center', 'pictures', 'center-00000.png');
  expect(decodePng(readFileSync(file))).toMatchObject({ width: 880, height: 1120 });
  const tiles = readdirSync(path.join(out, 'center', 'tiles', 'center-00000'));
  expect(tiles).toHaveLength(17);
  expect((await generate(...args, '--size', '99', '--out', fresh())).stderr).toMatch(
    'ml-rpm-bench has a size of its own, and eight options',
  );
});

test('a key of eight candidates is refused for items of four options', async () => {
  const args = [
    '--config',
    'center',
    '--count',
    '1',
    '--options',
    '4',
    '--answers',
    `${root}/k.csv`,
  ];
  const { stderr, code } = await generate(...args, '--out', fresh());
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching('items with --options 4 have their answers in items.jsonl'),
  ]);
});

test('options of items are refused for other formats', async () => {
  const args = ['--config', 'center', '--count', '1', '--format', 'png', '--out', fresh()];
  const { stderr, code } = await crab(['generate', ...args, '--size', '200']);
  expect([code, stderr]).toEqual([2, expect.stringMatching('--size is for --format vlm, not png')]);
});

test('replies to items are graded', async () => {
  const out = fresh();
  const made = ['--config', 'center', '--count', '6', '--size', '32', '--variant', 'i-raven'];
  expect((await generate(...made, '--out', out)).code).toBe(0);
  const items = records<Written>(path.join(out, 'center', 'items.jsonl'));
  const answers = path.join(root, 'answers.jsonl');
  const replies = items.map(({ id, answer }, i) =>
    JSON.stringify({ id, reply: i === 0 ? 'I do not know' : `Answer: ${answer}` }),
  );
  writeFileSync(answers, replies.join('\n'));
  const { stdout, stderr } = await crab(['grade', answers, '--items', out]);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^model: 83\.3% \(.*\) of 6 items right/);
  expect(stdout).toMatch(/chance 12\.5%, people on RAVEN's problems 95\.5%, CRAB -/);
  expect(stdout).toMatch(
    /1 reply without a letter, counted as wrong; 0 items without a reply, not counted/,
  );
  const json = await crab(['grade', answers, '--items', out, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ models: [{ items: 6, unparsable: 1 }] });
  const page = await crab(['grade', answers, '--items', out, '--out', `${out}.html`]);
  expect([page.code, page.stderr]).toEqual([2, expect.stringMatching(/--out makes a page/)]);
});
