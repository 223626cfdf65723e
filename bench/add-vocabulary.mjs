// Finds the vocabulary of bundles that have none yet (or finds it again) and writes it into them:
//   node bench/add-vocabulary.mjs zoo/center zoo/grid-3x3 ... [--problems N]
// New exports find theirs themselves; this is for bundles whose run is gone.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findVocabulary, openBundleSubject } from '../dist/lab/index.js';
import { formatVocabulary } from '../dist/solver/index.js';
import { CARD_FILE, writeBundle } from '../dist/solver/node.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { problems: { type: 'string' } },
});
const problems = values.problems === undefined ? undefined : Number(values.problems);
for (const folder of positionals) {
  const subject = await openBundleSubject(folder);
  const started = performance.now();
  const data = await findVocabulary(subject, { problems });
  const { manifest, files } = subject.bundle;
  const bytes = formatVocabulary(data, manifest.sizes);
  await subject.dispose();
  const card = await readFile(path.join(folder, CARD_FILE)).catch(() => null);
  await writeBundle(folder, manifest, new Map([...files, ['vocabulary.safetensors', bytes]]));
  if (card !== null) await writeFile(path.join(folder, CARD_FILE), card);
  const groups = data.groups.map(
    ({ concepts, counts, attributes }) =>
      `[${concepts.map((m) => m + 1).join(' ')}] ${counts.length} entries ${attributes.map(({ name }) => name).join(', ')}`,
  );
  const shared = data.shared.map(({ concept }) => concept + 1).join(' ') || 'none';
  console.log(
    `${folder}: ${groups.join('; ')}; shared ${shared}; still ${data.still.map(({ concept }) => concept + 1).join(' ') || 'none'}; ${bytes.length} bytes; ${((performance.now() - started) / 1000).toFixed(0)} s`,
  );
}
