/**
 * Which configurations problems can be of, as far as they tell: by rules that only some configurations
 * can have, by what their panels show, or, if they show nothing that we know, by the name of their folder
 * or file or the `generate.json` beside them.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError } from '../../base/index.js';
import { findConfiguration } from '../configuration-finder.js';
import { layoutName } from '../item.js';
import { ALL_LAYOUTS, layoutOf } from '../layouts.js';
import type { ComponentLayout, ConfigurationLayout } from '../layouts.js';
import { MESH } from '../mesh.js';
import { CONFIGURATIONS, MATRIX_PANELS, type Configuration } from '../problem.js';
import { PAPER, SMALL_SIZE } from '../render.js';
import { resize } from '../resize.js';
import { originalRange } from '../rules.js';
import type { ProblemSource, SetBatch } from '../set.js';
import type { Label, LabelRule } from '../set-label.js';
import { configurationTold } from './manifest.js';

/** Problems whose labels are looked at: enough that a rule of a grid is among them. */
const LOOKED_AT = 32;
/** Of these, problems whose panels are recognised: a tenth of a second. */
export const SEEN = 4;

/** The configuration that a name stands for: `center_single`, `raven_center_single`, `grid-2x2-noisy`. */
export function namedConfiguration(name: string): Configuration | undefined {
  const bare = name
    .toLowerCase()
    .replace(/^i?-?raven(-fair|-unique)?[_-]/, '')
    .replace(/-mesh$/, '');
  return ALL_LAYOUTS.find((layout) => [layout.folder, layoutName(layout)].includes(bare))
    ?.configuration;
}

/** Whether an attribute of a component can change from panel to panel. */
function canChange(component: ComponentLayout, { attribute }: LabelRule): boolean {
  const { min, max } = originalRange(component, attribute);
  return min < max;
}

/** A mesh is one component more; its lines have no rule of their own beside Number and Position. */
export const hasMesh = (label: Label, components: number): boolean =>
  label.length === components + 1;

const fits = (configuration: Configuration, label: Label): boolean => {
  const { components } = layoutOf(configuration);
  return (
    label.length === 0 ||
    ((label.length === components.length || hasMesh(label, components.length)) &&
      label.every((rules, c) =>
        rules.every(
          (rule) =>
            rule.name === 'Constant' ||
            canChange(c < components.length ? components[c] : MESH, rule),
        ),
      ))
  );
};

/** The configurations that can have these labels; all of them if labels are empty. */
export const configurationsOfLabels = (labels: readonly Label[]): readonly Configuration[] =>
  CONFIGURATIONS.filter((configuration) => labels.every((label) => fits(configuration, label)));

/** What the place of problems is called after: by its manifest, its folder or its file. */
async function namedPlace(location: string): Promise<Configuration | undefined> {
  const full = path.resolve(location);
  if ((await stat(full)).isDirectory()) {
    return (
      namedConfiguration((await configurationTold(full)) ?? '') ??
      namedConfiguration(path.basename(full))
    );
  }
  const isSet = full.endsWith('.npz');
  return namedConfiguration(
    isSet ? path.basename(full, '.npz') : path.basename(path.dirname(full)),
  );
}

/** The layout that pictures are of, among those of some configurations; undefined if they are of none. */
export function shownLayout(
  { panel, count }: SetBatch,
  among: readonly Configuration[],
): ConfigurationLayout | undefined {
  const size = panel.length / (count * MATRIX_PANELS);
  const panels = Array.from({ length: Math.min(count, SEEN) * MATRIX_PANELS }, (_, i) => {
    const bytes = panel.subarray(i * size, (i + 1) * size);
    return Float32Array.from(resize(bytes, Math.sqrt(size), SMALL_SIZE), (byte) => byte / PAPER);
  });
  const layouts = ALL_LAYOUTS.filter(({ configuration }) => among.includes(configuration));
  return findConfiguration(panels, layouts)?.layout;
}

/** The configurations that the problems at a place can be of; all of them if nothing tells. */
export async function configurationsOf(
  location: string,
  source: ProblemSource,
): Promise<readonly Configuration[]> {
  const batch = await source.read(0, Math.min(LOOKED_AT, source.count));
  // A cache has no rules of its own: they are worked out for the configuration it is opened with.
  const fitting = /\.(hdf5|h5)$/i.test(location) ? [] : configurationsOfLabels(batch.label);
  // Rules that no configuration has tell nothing that a reader could use.
  const possible = fitting.length > 0 ? fitting : CONFIGURATIONS;
  if (possible.length === 1) return possible;
  const told = shownLayout(batch, possible)?.configuration ?? (await namedPlace(location));
  // If a name contradicts the rules, the rules are believed.
  return told !== undefined && possible.includes(told) ? [told] : possible;
}

/** What the name of a problem tells: of its folder, or its own as items are called. */
async function namedProblem(location: string): Promise<Configuration | undefined> {
  const full = path.resolve(location);
  const isFolder = (await stat(full)).isDirectory();
  const item = /^(.+)-\d{5,9}$/.exec(path.basename(full, path.extname(full)))?.[1];
  const folder = isFolder ? full : path.dirname(full);
  return (
    (item === undefined ? undefined : namedConfiguration(item)) ??
    namedConfiguration(path.basename(folder))
  );
}

/** Refuses one problem that tells that it is not of a model's configuration. */
export async function checkProblemConfiguration(
  location: string,
  byStructure: readonly Configuration[] | null,
  configuration: Configuration,
): Promise<void> {
  const structural = byStructure ?? [];
  const told = await namedProblem(location);
  // As with sets: a name narrows what the structure allows, and if it contradicts, loses.
  const isPossible = told !== undefined && (structural.length === 0 || structural.includes(told));
  const possible = isPossible ? [told] : structural;
  if (possible.length === 0 || possible.includes(configuration)) return;
  throw new ArgumentError(
    `${location}: a problem of ${OR.format(possible)}, the model is for ${configuration}`,
  );
}

export const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });
