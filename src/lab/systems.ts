/** Every system of the registry: what it needs, what it can do, and how well it was measured to do it. */
import { fileURLToPath } from 'node:url';
import { PAPER_VARIANTS, type Variant } from '../matrix/index.js';
import { SYSTEMS, type Capability, type Needs, type System } from '../models/index.js';
import { accuracyRow, groupsOf, type Compared } from './compare.js';
import { paperRows, paperShare } from './paper.js';
import { readMeasurements, type Measurements } from './results/index.js';
import { comparedOf } from './results/systems.js';
import { meanOf } from './statistics.js';

/** Mean accuracy over configurations, fractions by the way candidates are made. */
export type Accuracy = Partial<Record<Variant, number>>;

export interface MeasuredPreset {
  readonly preset: string;
  /** Configurations that were measured; the paper's table has seven. */
  readonly configurations: number;
  readonly sa: Accuracy;
  /** By plain L2, for systems with concepts. */
  readonly saL2?: Accuracy;
}

export interface SystemDescription {
  readonly name: string;
  readonly title: string;
  readonly presets: readonly string[];
  readonly needs: Needs;
  readonly positions: System['positions'];
  readonly can: readonly Capability[];
  readonly measured: readonly MeasuredPreset[];
  /** The paper's averages for it; a system that it prints with and without rules has both. */
  readonly paper: readonly { readonly name: string; readonly aux: string; readonly sa: Accuracy }[];
}

/** The documents that come with this package. */
const docsFolder = (): string => fileURLToPath(new URL('../../docs/', import.meta.url));

const accuracyOf = (share: (variant: (typeof PAPER_VARIANTS)[number]) => number | null): Accuracy =>
  Object.fromEntries(
    PAPER_VARIANTS.flatMap((variant) => {
      const found = share(variant);
      return found === null ? [] : [[variant, found]];
    }),
  );

/** Published models, and of presets that have none what trainings without a tag were measured to do. */
function comparedIn({ models, trainings }: Measurements): Compared[] {
  const isPublished = ({ system, preset }: Pick<Compared, 'system' | 'preset'>): boolean =>
    models.some((model) => model.system === system && model.preset === preset);
  const plain = trainings.filter((training) => training.tag === null && !isPublished(training));
  return [...models, ...plain.flatMap(comparedOf)];
}

function measuredPresets(system: string, models: readonly Compared[]): MeasuredPreset[] {
  const own = models.filter((model) => model.system === system);
  return groupsOf(own).flatMap((group) => {
    const mean = (measure: 'sa' | 'saL2'): Accuracy =>
      accuracyOf((variant) => {
        const cells = accuracyRow(group, measure)?.cells ?? [];
        const known = cells
          .map((pair) => pair[PAPER_VARIANTS.indexOf(variant)])
          .filter((share) => share !== null);
        return known.length === 0 ? null : meanOf(known);
      });
    const cells = accuracyRow(group, 'sa')?.cells ?? [];
    const configurations = cells.filter((pair) => pair.some((share) => share !== null)).length;
    const saL2 = mean('saL2');
    if (configurations === 0) return [];
    const l2 = Object.keys(saL2).length === 0 ? {} : { saL2 };
    return [{ preset: group.preset, configurations, sa: mean('sa'), ...l2 }];
  });
}

/** Describes all systems; `docs` is the folder whose measurements are told, that of this package unless told. */
export async function describeSystems(docs = docsFolder()): Promise<SystemDescription[]> {
  const models = comparedIn(await readMeasurements(docs));
  return SYSTEMS.map((system) => {
    const { name, title, presets, positions, can } = system;
    return {
      name,
      title,
      presets,
      needs: system.needs(system.config(presets[0], 'center')),
      positions,
      can,
      measured: measuredPresets(name, models),
      paper: paperRows(name).map((row) => ({
        name: row.name,
        aux: row.aux,
        sa: accuracyOf((variant) => paperShare(row, 'average', variant)),
      })),
    };
  });
}
