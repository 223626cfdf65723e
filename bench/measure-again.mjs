// Measures some metrics of published models again and puts them into docs/measured, the results and cards:
//   node bench/measure-again.mjs zoo/center zoo/grid-3x3 ... --metrics ari,vd [--problems N] [--pictures N] [--data SETS]
// For what was found again in a bundle (bench/remake-bundles.mjs) while its networks stayed as they are, and for
// metrics that are worked out in another way. The others are kept. --data: sets of which sa is measured too. Without --metrics only the hashes are renewed.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  closeData,
  dataIn,
  evaluateModel,
  freshData,
  measuredOf,
  openBundleSubject,
  openData,
  updateResults,
} from '../dist/lab/index.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    metrics: { type: 'string' },
    problems: { type: 'string' },
    pictures: { type: 'string' },
    data: { type: 'string' },
  },
});
const count = (text) => (text === undefined ? undefined : Number(text));
const metrics = values.metrics?.split(',') ?? [];
/** What measurements say of the model itself. */
const FACTS = ['name', 'system', 'preset', 'configuration', 'noisy', 'sizes', 'training'];
const six = (_, value) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

for (const folder of positionals) {
  const subject = await openBundleSubject(folder);
  const file = path.join('docs', 'measured', `${path.basename(folder)}.json`);
  const kept = JSON.parse(await readFile(file, 'utf8'));
  const sets = values.data === undefined ? [] : await dataIn(values.data, subject.facts);
  const given = await openData(sets, subject.facts, 'test');
  const found = await evaluateModel(subject, {
    model: kept.model,
    data: [...freshData(subject.facts, 5000), ...given],
    metrics,
    problems: count(values.problems),
    pictures: count(values.pictures),
  });
  await closeData(given);
  await subject.dispose();
  const measured = measuredOf(found);
  const names = metrics.map((metric) => (metric === 'sa' ? 'selection' : metric));
  // What is known of the model itself too: the bundle may be of another training.
  for (const name of [...names, ...FACTS]) kept[name] = measured[name];
  kept.conditions.bundle = subject.facts.hash;
  await writeFile(file, `${JSON.stringify(kept, six, 1)}\n`);
  const { ari } = found;
  const told =
    ari === null
      ? ''
      : ['matrix', 'oneReading', 'plain', 'groups', 'context']
          .map((each) => `${each} ${ari[each]?.average.toFixed(3)}`)
          .join(', ');
  console.log(`${folder}: ${told} ${JSON.stringify(found.seconds)}`);
}
await updateResults('docs');
