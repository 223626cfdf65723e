/** Opens items wherever they are: a set, an answer file, a folder of pictures or of RAVEN's files. */
import { stat } from 'node:fs/promises';
import { ArgumentError } from '../../base/index.js';
import { type ProblemSource } from '../../matrix/index.js';
import {
  configurationFolders,
  configurationsOf,
  namedConfiguration,
  openSet,
} from '../../matrix/node.js';
import { picturesOf } from './drawn-item.js';
import { itemKey, type ItemBank } from './items.js';
import { keyBank } from './key-bank.js';
import { pictureBank, recipesIn } from './picture-bank.js';
import { ravenBank } from './raven-bank.js';

/**
 * Items of a set are numbered from 0, by themselves or at the end of a name: 42, center-00042. A
 * configuration in the name must be one that the set can be of.
 */
async function setBank(file: string, source: ProblemSource): Promise<ItemBank> {
  const possible = await configurationsOf(file, source);
  return {
    name: file,
    sample: '0',
    find: async (name) => {
      const [, prefix, digits] = /^(?:(.*)-)?(\d{1,9})$/.exec(itemKey(name)) ?? [];
      const index = Number(digits);
      if (!(index < source.count)) return undefined;
      const told = namedConfiguration(prefix ?? '');
      if (told !== undefined && !possible.includes(told)) {
        throw new ArgumentError(
          `item ${name}: it is called after ${told}, the items of ${file} are of ${possible.join(' or ')}`,
        );
      }
      const batch = await source.read(index, 1);
      const pictures = picturesOf(batch);
      const [answer] = batch.answer;
      return {
        id: String(index),
        layout: null,
        answer: answer + 1,
        alsoRight: [],
        rules: null,
        violations: null,
        pictures,
      };
    },
    close: () => source.close(),
  };
}

/** Opens items, by what they are. */
export async function openItems(location: string): Promise<ItemBank> {
  const info = await stat(location);
  if (!info.isDirectory()) {
    if (/\.csv$/i.test(location)) return keyBank(location);
    if (/\.npz$/i.test(location)) return setBank(location, await openSet(location));
    throw new ArgumentError(
      `--items ${location}: expected a folder or a set of crab generate, or the file of its --answers`,
    );
  }
  const recipes = await recipesIn(location);
  if (recipes.size > 0) return pictureBank(location, recipes);
  const folders = await configurationFolders(location);
  const bank = await ravenBank(location, folders.length > 0 ? folders : [location]);
  if (bank.sample === '') {
    throw new ArgumentError(
      `--items ${location} holds neither RAVEN problems nor sheets (png, svg); if it is of --format vlm and people have answered, give the file of --answers`,
    );
  }
  return bank;
}
