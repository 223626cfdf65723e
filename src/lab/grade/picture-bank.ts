/** Folders of pictures that `crab generate` made: `generate.json` tells how to make them again. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { FormatError, integer, isRecord, objectWith, oneOf, read, text } from '../../base/index.js';
import {
  itemName,
  layoutName,
  layoutNamed,
  VARIANTS,
  type ConfigurationLayout,
  type Problem,
  type Variant,
} from '../../matrix/index.js';
import { MANIFEST, problemMaker, readManifest } from '../../matrix/node.js';
import { drawnItem } from './drawn-item.js';
import { itemKey, type ItemBank } from './items.js';

export interface Recipe {
  readonly layout: ConfigurationLayout;
  readonly variant: Variant;
  readonly seed: number;
  readonly rules?: unknown;
  /** Makes problem i, of its part of a regime. */
  readonly make: (index: number) => Problem;
}

/** What `crab generate` writes of its options. */
const recipe = objectWith({
  configuration: text(100),
  variant: oneOf(VARIANTS),
  seed: integer(),
  rules: ({ value }) => value,
});

/** What a folder was made from; undefined if it has no manifest or holds RAVEN's files. */
export async function recipeOf(folder: string): Promise<Recipe | undefined> {
  const json = await readManifest(folder);
  if (json === undefined || (isRecord(json) && json.format === 'raven')) return undefined;
  const file = path.join(folder, MANIFEST);
  const { configuration: name, ...made } = read(recipe, json, FormatError, file);
  const layout = layoutNamed(name);
  return { layout, ...made, make: problemMaker({ ...layout, ...made }) };
}

const sameRecipe = (a: Recipe, b: Recipe): boolean => JSON.stringify(a) === JSON.stringify(b);

export function pictureBank(
  root: string,
  recipes: ReadonlyMap<string, readonly [Recipe, number]>,
): ItemBank {
  return {
    name: root,
    sample: [...recipes.keys()][0],
    find: (name) => {
      const found = recipes.get(itemKey(name));
      if (found === undefined) return Promise.resolve(undefined);
      const [{ layout, variant, seed, make }, index] = found;
      return Promise.resolve({
        ...drawnItem(itemName(layout, index), make(index)),
        made: { variant, seed },
      });
    },
  };
}

/** Items of the folders below a root (or the root itself) that have a manifest. */
export async function recipesIn(root: string): Promise<Map<string, readonly [Recipe, number]>> {
  const entries = await readdir(root, { withFileTypes: true });
  const folders = [
    root,
    ...entries.filter((e) => e.isDirectory()).map((e) => path.join(root, e.name)),
  ];
  const items = new Map<string, readonly [Recipe, number]>();
  for (const folder of folders) {
    const recipe = await recipeOf(folder);
    if (recipe === undefined) continue;
    const prefix = layoutName(recipe.layout);
    for (const file of await readdir(folder)) {
      const match = /^(.+)-(\d{5,9})\.(?:png|svg)$/.exec(file);
      if (match?.[1] !== prefix) continue;
      const key = itemKey(file);
      const other = items.get(key)?.[0];
      if (other !== undefined && !sameRecipe(other, recipe)) {
        throw new FormatError(
          `--items ${root}: ${key} is in two folders that were made differently (seeds ${other.seed} and ${recipe.seed}); name one of them`,
        );
      }
      items.set(key, [recipe, Number(match[2])]);
    }
  }
  return items;
}
