/** Items of RAVEN's folders, anyone's: with their XML what candidates get wrong is known. */
import { ArgumentError } from '../../base/index.js';
import {
  imagesToBatch,
  itemName,
  layoutName,
  ravenFileName,
  type ConfigurationLayout,
} from '../../matrix/index.js';
import { layoutOfFolder, listRavenFolder, readRavenProblem } from '../../matrix/node.js';
import type { RavenPlace, RavenProblem } from '../../matrix/node.js';
import { describedItem, picturesOf } from './drawn-item.js';
import { itemKey, type ItemBank, type TestItem } from './items.js';

function ravenItem(
  id: string,
  found: RavenProblem,
  layout: ConfigurationLayout | undefined,
): TestItem {
  const { arrays, problem } = found;
  const pictures = picturesOf(imagesToBatch(arrays.images, arrays.target, []));
  if (problem !== undefined) return describedItem(id, problem, pictures);
  const known = layout ?? (arrays.layouts.length === 1 ? arrays.layouts[0] : undefined);
  return {
    id,
    layout: known === undefined ? null : layoutName(known),
    answer: arrays.target + 1,
    alsoRight: [],
    rules: null,
    violations: null,
    pictures,
  };
}

interface PlacedProblem {
  readonly id: string;
  readonly folder: string;
  readonly place: RavenPlace;
}

/** Items of one or several folders under a root. */
export async function ravenBank(root: string, folders: readonly string[]): Promise<ItemBank> {
  const places = new Map<string, PlacedProblem | null>();
  let sample = '';
  for (const folder of folders) {
    const layout = layoutOfFolder(folder);
    for (const place of await listRavenFolder(folder)) {
      const file = ravenFileName(place.index, place.part);
      const id = layout === undefined ? file : itemName(layout, place.index);
      sample ||= id;
      for (const key of new Set([itemKey(id), itemKey(file)])) {
        // The same file name in two folders names neither.
        places.set(key, places.has(key) ? null : { id, folder, place });
      }
    }
  }
  return {
    name: root,
    sample,
    find: async (name) => {
      const found = places.get(itemKey(name));
      if (found === null) {
        throw new ArgumentError(
          `item ${name}: several folders of ${root} have one; name it as ${sample}, with its configuration`,
        );
      }
      if (found === undefined) return undefined;
      const problem = await readRavenProblem(found.folder, found.place);
      return ravenItem(found.id, problem, layoutOfFolder(found.folder));
    },
  };
}
