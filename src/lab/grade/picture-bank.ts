/** Folders of pictures that `crab generate` made: `generate.json` tells how to make them again. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import {
  FormatError,
  integer,
  isRecord,
  objectWith,
  oneOf,
  parseJson,
  read,
  text,
} from '../../base/index.js';
import {
  findLayout,
  itemName,
  layoutName,
  parseConstraints,
  sampleProblem,
  VARIANTS,
  type ConfigurationLayout,
  type ProblemRequest,
} from '../../matrix/index.js';
import { readSmallFile } from '../../base/node.js';
import { drawnItem } from './drawn-item.js';
import { itemKey, type ItemBank } from './items.js';

const MANIFEST = 'generate.json';
const MOST_MANIFEST = 1 << 20;

export interface Recipe {
  readonly layout: ConfigurationLayout;
  readonly request: Omit<ProblemRequest, 'index'>;
}

/** What `crab generate` writes of its options. */
const recipe = objectWith({
  configuration: text(100),
  variant: oneOf(VARIANTS),
  seed: integer(),
  rules: ({ value }) => value,
});

/** What a folder was made from; undefined where it has no manifest or holds RAVEN's files. */
export async function recipeOf(folder: string): Promise<Recipe | undefined> {
  const file = path.join(folder, MANIFEST);
  const bytes = await readSmallFile(file, MOST_MANIFEST).catch(() => undefined);
  if (bytes === undefined) return undefined;
  const json = parseJson(bytes, FormatError, file);
  if (isRecord(json) && json.format === 'raven') return undefined;
  const { configuration: name, variant, seed, rules } = read(recipe, json, FormatError, file);
  const layout = findLayout(name);
  const { configuration, noisy } = layout;
  const constraints = rules === undefined ? undefined : parseConstraints(rules, layout);
  return { layout, request: { configuration, noisy, variant, seed, constraints } };
}

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
      const [{ layout, request }, index] = found;
      const { variant = 'raven', seed } = request;
      return Promise.resolve({
        ...drawnItem(itemName(layout, index), sampleProblem({ ...request, index })),
        made: { variant, seed },
      });
    },
    close: () => Promise.resolve(),
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
      if (other !== undefined && JSON.stringify(other.request) !== JSON.stringify(recipe.request)) {
        throw new FormatError(
          `--items ${root}: ${key} is in two folders that were made differently (seeds ${other.request.seed} and ${recipe.request.seed}); name one of them`,
        );
      }
      items.set(key, [recipe, Number(match[2])]);
    }
  }
  return items;
}
