// Finds again what a bundle knows beyond its networks, and writes it into the bundle, hashes last:
//   node bench/remake-bundles.mjs zoo/center zoo/grid-3x3 ... [--parts vocabulary,kinds,names,accuracy] [--problems N]
// vocabulary: groups and entries; kinds: the categories of rules in rules.json; names: those of concepts;
// accuracy: how often it chooses right, as its manifest says.
// New exports find all of it themselves; this is for bundles whose run is gone.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  bundleAccuracy,
  bundleNames,
  findVocabulary,
  fitPrior,
  openBundleSubject,
  varianceDecline,
} from '../dist/lab/index.js';
import { categoriesOf, formatVocabulary } from '../dist/solver/index.js';
import { CARD_FILE, writeBundle } from '../dist/solver/node.js';

const PARTS = ['vocabulary', 'kinds', 'names', 'accuracy'];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { problems: { type: 'string' }, parts: { type: 'string' } },
});
const problems = values.problems === undefined ? undefined : Number(values.problems);
const parts = values.parts?.split(',') ?? PARTS;
const unknown = parts.find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new Error(`--parts ${unknown}: expected ${PARTS.join(', ')}`);

/** `rules.json` with the kinds of rules found again, as many as it had for each concept. */
async function rulesWithKinds(subject, bytes) {
  const map = JSON.parse(new TextDecoder().decode(bytes));
  const counts = map.prior.map((mixture) => 1 + Math.max(...categoriesOf(mixture)));
  const prior = await fitPrior(subject, counts, { fitted: problems });
  return new TextEncoder().encode(JSON.stringify({ ...map, prior }));
}

for (const folder of positionals) {
  const subject = await openBundleSubject(folder);
  const started = performance.now();
  const files = new Map(subject.bundle.files);
  let { manifest } = subject.bundle;
  if (parts.includes('vocabulary')) {
    const data = await findVocabulary(subject, { problems });
    files.set('vocabulary.safetensors', formatVocabulary(data, manifest.sizes));
  }
  if (parts.includes('kinds') && files.has('rules.json')) {
    files.set('rules.json', await rulesWithKinds(subject, files.get('rules.json')));
  }
  if (parts.includes('names')) {
    const { names } = await varianceDecline(subject);
    manifest = { ...manifest, conceptNames: bundleNames(names) };
  }
  if (parts.includes('accuracy')) {
    manifest = {
      ...manifest,
      accuracy: await bundleAccuracy(subject, { judged: manifest.accuracy?.problems }),
    };
  }
  await subject.dispose();
  const card = await readFile(path.join(folder, CARD_FILE)).catch(() => null);
  await writeBundle(folder, manifest, files);
  if (card !== null) await writeFile(path.join(folder, CARD_FILE), card);
  const sizes = [...files].map(([name, bytes]) => `${name} ${bytes.length}`).join(', ');
  const names = manifest.conceptNames.map((found) => found?.name ?? '–').join(', ');
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const accuracy = JSON.stringify(manifest.accuracy);
  console.log(`${folder}: ${names}; ${accuracy}; bytes: ${sizes}; ${seconds} s`);
}
