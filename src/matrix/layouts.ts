/**
 * The seven configurations: which components each has, where their slots lie, and which levels their
 * attributes may take before any rule narrows them. Also every name a configuration goes by.
 */
import { levels, UNIFORM, UPRIGHT, type LevelRange } from './attributes.js';
import { ArgumentError } from '../base/index.js';
import { MESH } from './mesh.js';
import { CONFIGURATIONS, type Configuration, type Problem } from './problem.js';

/**
 * A place for one entity, in fractions of the image. Of a line, `row` and `column` are its start, `width`
 * and `height` the row and column of its end, as the data sets have it.
 */
export interface Slot {
  readonly row: number;
  readonly column: number;
  readonly width: number;
  readonly height: number;
}

/** One component of a configuration, with the original (un-narrowed) level ranges. */
export interface ComponentLayout {
  /** Name of the component in the data sets, e.g. `Left`. */
  readonly name: string;
  /** Name of its layout in the data sets, e.g. `Left_Center_Single`. */
  readonly layout: string;
  /** Row by row. */
  readonly slots: readonly Slot[];
  /** Levels of Number: level n - 1 for n entities. */
  readonly number: LevelRange;
  /** The highest level of Number that is drawn freely; absent: that of `number`. */
  readonly mostDrawn?: number;
  /** Slots that a progression of Position moves in each column, whatever its step; absent: its step. */
  readonly turn?: number;
  readonly type: LevelRange;
  readonly size: LevelRange;
  readonly color: LevelRange;
  readonly angle: LevelRange;
  readonly uniformity: LevelRange;
}

export interface ConfigurationLayout {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  /** Whether a mesh is the last component. */
  readonly mesh: boolean;
  /** Name of the structure in the data sets, e.g. `Left_Right`. */
  readonly structure: 'Singleton' | 'Left_Right' | 'Up_Down' | 'Out_In';
  /** Folder name in the data sets. */
  readonly folder: string;
  readonly components: readonly ComponentLayout[];
}

const slot = (row: number, column: number, side: number): Slot => ({
  row,
  column,
  width: side,
  height: side,
});

const gridSlots = (centres: readonly number[], side: number): Slot[] =>
  centres.flatMap((row) => centres.map((column) => slot(row, column, side)));

function component(
  name: string,
  layout: string,
  slots: readonly Slot[],
  noiseFree: boolean,
  ranges: { size?: LevelRange; color?: LevelRange } = {},
): ComponentLayout {
  return {
    name,
    layout,
    slots,
    number: levels(0, slots.length - 1),
    type: levels(1, 5),
    size: ranges.size ?? levels(0, 5),
    color: ranges.color ?? levels(0, 9),
    angle: noiseFree ? levels(UPRIGHT, UPRIGHT) : levels(0, 7),
    uniformity: noiseFree ? levels(UNIFORM, UNIFORM) : levels(0, UNIFORM),
  };
}

const outer = (noiseFree: boolean): ComponentLayout =>
  component('Out', 'Out_Center_Single', [slot(0.5, 0.5, 1)], noiseFree, {
    size: levels(3, 5),
    color: levels(0, 0),
  });

interface Blueprint {
  readonly alias: string;
  readonly structure: ConfigurationLayout['structure'];
  readonly folder: string;
  /** Whether the configuration has a grid and so both a noisy and a noise-free form. */
  readonly grid: boolean;
  readonly components: (noiseFree: boolean) => ComponentLayout[];
}

const BLUEPRINTS: Record<Configuration, Blueprint> = {
  center: {
    alias: 'Center',
    structure: 'Singleton',
    folder: 'center_single',
    grid: false,
    components: (free) => [component('Grid', 'Center_Single', [slot(0.5, 0.5, 1)], free)],
  },
  'left-right': {
    alias: 'L-R',
    structure: 'Left_Right',
    folder: 'left_center_single_right_center_single',
    grid: false,
    components: (free) => [
      component('Left', 'Left_Center_Single', [slot(0.5, 0.25, 0.5)], free),
      component('Right', 'Right_Center_Single', [slot(0.5, 0.75, 0.5)], free),
    ],
  },
  'up-down': {
    alias: 'U-D',
    structure: 'Up_Down',
    folder: 'up_center_single_down_center_single',
    grid: false,
    components: (free) => [
      component('Up', 'Up_Center_Single', [slot(0.25, 0.5, 0.5)], free),
      component('Down', 'Down_Center_Single', [slot(0.75, 0.5, 0.5)], free),
    ],
  },
  'out-in-center': {
    alias: 'O-IC',
    structure: 'Out_In',
    folder: 'in_center_single_out_center_single',
    grid: false,
    components: (free) => [
      outer(free),
      component('In', 'In_Center_Single', [slot(0.5, 0.5, 0.33)], free),
    ],
  },
  'out-in-grid': {
    alias: 'O-IG',
    structure: 'Out_In',
    folder: 'in_distribute_four_out_center_single',
    grid: true,
    components: (free) => [
      outer(free),
      component('In', 'In_Distribute_Four', gridSlots([0.42, 0.58], 0.15), free, {
        size: levels(2, 5),
      }),
    ],
  },
  'grid-2x2': {
    alias: '2x2Grid',
    structure: 'Singleton',
    folder: 'distribute_four',
    grid: true,
    components: (free) => [
      component('Grid', 'Distribute_Four', gridSlots([0.25, 0.75], 0.5), free),
    ],
  },
  'grid-3x3': {
    alias: '3x3Grid',
    structure: 'Singleton',
    folder: 'distribute_nine',
    grid: true,
    components: (free) => [
      component('Grid', 'Distribute_Nine', gridSlots([0.16, 0.5, 0.83], 0.33), free),
    ],
  },
};

const NOISE_FREE_SUFFIX = '_uniform';

function build(configuration: Configuration, noisy: boolean): ConfigurationLayout {
  const blueprint = BLUEPRINTS[configuration];
  const noiseFree = blueprint.grid && !noisy;
  return {
    configuration,
    noisy,
    mesh: false,
    structure: blueprint.structure,
    folder: noiseFree ? blueprint.folder + NOISE_FREE_SUFFIX : blueprint.folder,
    components: blueprint.components(noiseFree),
  };
}

const LAYOUTS = new Map<string, ConfigurationLayout>();
for (const configuration of CONFIGURATIONS) {
  LAYOUTS.set(configuration, build(configuration, false));
  if (BLUEPRINTS[configuration].grid) {
    LAYOUTS.set(`${configuration}-noisy`, build(configuration, true));
  }
}

/** All ten layouts: the seven configurations and the noisy forms of the three with grids. */
export const ALL_LAYOUTS: readonly ConfigurationLayout[] = [...LAYOUTS.values()];

const withMesh = new Map(
  ALL_LAYOUTS.map((layout) => [
    layout,
    { ...layout, mesh: true, components: [...layout.components, MESH] },
  ]),
);

/** The ten layouts with a mesh, as I-RAVEN-Mesh has them. */
export const MESH_LAYOUTS: readonly ConfigurationLayout[] = [...withMesh.values()];

/** Whether a configuration has both a noisy and a noise-free form. */
export const hasGrid = (configuration: Configuration): boolean => BLUEPRINTS[configuration].grid;

/** The layout of a configuration. Only those with grids have a noisy form. */
export function layoutOf(
  configuration: Configuration,
  noisy = false,
  mesh = false,
): ConfigurationLayout {
  const layout = LAYOUTS.get(noisy ? `${configuration}-noisy` : configuration);
  if (layout) return (mesh && withMesh.get(layout)) || layout;
  if (!(CONFIGURATIONS as readonly string[]).includes(configuration)) {
    throw new ArgumentError(unknownConfiguration(configuration));
  }
  throw new ArgumentError(
    `configuration ${configuration} has no noisy form: only out-in-grid, grid-2x2 and grid-3x3 have one`,
  );
}

/** The layout of a problem. */
export const layoutOfProblem = ({
  configuration,
  noisy,
  mesh,
}: Pick<Problem, 'configuration' | 'noisy' | 'mesh'>): ConfigurationLayout =>
  layoutOf(configuration, noisy, mesh);

/** Display name of the paper, e.g. `O-IC`. */
export const paperName = (configuration: Configuration): string => BLUEPRINTS[configuration].alias;

const NAMES = new Map<string, ConfigurationLayout>();
for (const layout of ALL_LAYOUTS) {
  const { alias } = BLUEPRINTS[layout.configuration];
  NAMES.set(layout.folder, layout);
  if (layout.noisy) {
    NAMES.set(`${layout.configuration}-noisy`, layout);
  } else {
    NAMES.set(layout.configuration, layout);
    NAMES.set(alias.toLowerCase(), layout);
  }
}

/**
 * A configuration by any of its names: ours, the paper's, a folder of the data sets (which decides
 * the noise), or a bundle's name with `-noisy`.
 */
export function findLayout(name: string, noisy?: boolean): ConfigurationLayout {
  const layout = NAMES.get(name.toLowerCase());
  if (!layout) throw new ArgumentError(unknownConfiguration(name));
  if (noisy === undefined || noisy === layout.noisy) return layout;
  return layoutOf(layout.configuration, noisy);
}

const unknownConfiguration = (name: string): string =>
  `unknown configuration "${name}": expected one of ${CONFIGURATIONS.join(', ')}`;
