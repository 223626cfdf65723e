/**
 * Cards of models and of a zoo: `README.md` beside every bundle and one above them, written from the
 * bundles and from the measurements kept beside the documents. A bundle lists its own files; a card is
 * none of them and changes no hash.
 */
import path from 'node:path';
import { ArgumentError } from '../../base/index.js';
import { isFolder, readSmallFile, writeFileAtomically } from '../../base/node.js';
import { CARD_FILE, folderSource, listZoo, openBundle, zooFolder } from '../../solver/node.js';
import { readMeasured, type MeasuredModel } from '../results/index.js';
import { isMeasurementOf } from './accuracy.js';
import { renderModelCard } from './model-card.js';
import { renderZooCard, type ZooModel } from './zoo-card.js';

export { CARD_FILE } from '../../solver/node.js';
export { renderModelCard, type CardOptions } from './model-card.js';
export { renderZooCard, type ZooModel } from './zoo-card.js';

export interface CardsOptions {
  /** Folder of the bundles; that of this package unless told. */
  readonly zoo?: string;
  /** Folder of documents, of which `measured/*.json` is read. */
  readonly docs?: string;
  readonly signal?: AbortSignal;
}

export interface Card {
  readonly file: string;
  readonly text: string;
}

/** What was measured. Cards without it tell less: a folder of documents that has none is a mistake. */
async function readMeasurements(docs: string | undefined): Promise<MeasuredModel[]> {
  if (docs === undefined) return [];
  const folder = path.join(docs, 'measured');
  if (!(await isFolder(docs))) throw new ArgumentError(`--docs ${docs}: no such folder`);
  if (!(await isFolder(folder)))
    throw new ArgumentError(`--docs ${docs}: no folder measured in it`);
  return readMeasured(folder);
}

async function readModels(zoo: string, options: CardsOptions): Promise<ZooModel[]> {
  const measurements = await readMeasurements(options.docs);
  const models: ZooModel[] = [];
  for (const folder of await listZoo(zoo)) {
    const source = folderSource(path.join(zoo, folder));
    const { manifest } = await openBundle(source, options.signal);
    const measured = measurements.find((each) => isMeasurementOf(each, manifest)) ?? null;
    models.push({ folder, manifest, measured });
  }
  return models;
}

/** The cards of a zoo as they should be; its bundles are opened and verified. */
export async function zooCards(options: CardsOptions = {}): Promise<readonly Card[]> {
  const zoo = options.zoo ?? zooFolder();
  const models = await readModels(zoo, options);
  if (models.length === 0) throw new ArgumentError(`--zoo ${zoo}: no bundles in this folder`);
  const published = path.resolve(zoo) === path.resolve(zooFolder());
  const cards = models.map(({ folder, manifest, measured }) => ({
    file: path.join(zoo, folder, CARD_FILE),
    text: renderModelCard(manifest, measured, { published }),
  }));
  return [...cards, { file: path.join(zoo, CARD_FILE), text: renderZooCard(models) }];
}

const LARGEST_CARD = 16 << 20;
/** How every card begins, those of earlier versions too. */
const CARD_START = '<!-- Written by `crab';

/** Writes the cards of a zoo and gives the files that changed. */
export async function writeZooCards(options: CardsOptions = {}): Promise<readonly string[]> {
  const changed: Card[] = [];
  for (const card of await zooCards(options)) {
    const before = await readSmallFile(card.file, LARGEST_CARD).then(String, () => null);
    if (before === card.text) continue;
    if (before !== null && !before.startsWith(CARD_START)) {
      throw new ArgumentError(`${card.file} is not a card that crab wrote: move it, so it is kept`);
    }
    changed.push(card);
  }
  // Only once all of them can be written: a refusal leaves everything as it was.
  for (const { file, text } of changed) await writeFileAtomically(file, text);
  return changed.map(({ file }) => file);
}
