/**
 * The card of a model, `README.md` in the folder of its bundle: what it does, how well, how it was made,
 * and what it is weak at. Everything in it is from the bundle and from measurements; nothing is typed in.
 */
import { megabytes } from '../../base/index.js';
import { layoutName, paperName, VARIANT_NAMES, type Configuration } from '../../matrix/index.js';
import { gsaPointAt, type AriTable } from '../evaluation.js';
import { bundleBytes, hasRules, systemOf, type BundleManifest } from '../../solver/index.js';
import { bullets, escaped, NOTHING, percentage, table, type Cell } from '../markdown.js';
import { NAME_UNUSED } from '../metrics/variance-decline.js';
import { whole } from '../numbers.js';
import { paperAri, paperSystemName } from '../paper.js';
import type { MeasuredModel } from '../results/index.js';
import type { Share } from '../compare.js';
import { accuracyRows, isMeasurementOf, paperAccuracy, type AccuracyRow } from './accuracy.js';
import { commandsOf, trainingItems } from './training-facts.js';
import { weaknessItems } from './weaknesses.js';

export interface CardOptions {
  /** Whether this is a bundle of this package's zoo: asked for by its name, trained on our machines. */
  readonly published?: boolean;
}

export const CARD_NOTE =
  '<!-- Written by `crab report --zoo --cards --docs docs`: changes by hand are lost. -->';

/** What the published models were trained on. */
const PUBLISHED_GPU = 'one NVIDIA H200';
const SOME_GPU = 'one CUDA GPU';

const COMMANDS_TOLD = 'The commands that train such a model and make its bundle.';

const SHOWS: Readonly<Record<Configuration, string>> = {
  center: 'one figure in the middle of every panel',
  'left-right': 'two figures side by side in every panel',
  'up-down': 'two figures one above the other in every panel',
  'out-in-center': 'a figure with another inside it in every panel',
  'out-in-grid': 'a figure with a grid of two by two places for others inside it in every panel',
  'grid-2x2': 'one to four figures on a grid of two by two places in every panel',
  'grid-3x3': 'one to nine figures on a grid of three by three places in every panel',
};

const WEIGHTS: Readonly<Record<BundleManifest['weights'], string>> = {
  f32: 'four bytes a weight',
  f16: 'two bytes a weight',
  int8: 'one byte a weight',
};

function introduction(manifest: BundleManifest): string {
  const { configuration, noisy, sizes, weights, compact } = manifest;
  const noise = noisy ? ", with RAVEN's original noise among the figures of a panel" : '';
  const factored = compact ? ', large layers factored' : '';
  const system = systemOf(manifest);
  const tells = hasRules(manifest)
    ? `, chooses among candidates, and tells the concepts and rules it went by. It describes a panel by ${sizes.concepts} concepts of ${sizes.conceptSize} values and the change of each by a rule of ${sizes.ruleSize} values.`
    : ` and chooses among candidates. It describes a panel by one vector of ${sizes.conceptSize} values and tells no concepts and no rules.`;
  return `A ${paperSystemName(system)} model of Raven's progressive matrices with ${SHOWS[configuration]} (\`${layoutName(manifest)}\`, the paper's ${paperName(configuration)}${noise}). Given the panels that are known it imagines the missing ones, at any one to eight of the nine positions${tells} ${megabytes(bundleBytes(manifest))} MB, ${WEIGHTS[weights]}${factored}.`;
}

function usage({ name }: BundleManifest, published: boolean): string {
  const model = published && /^[\w-]+$/.test(name) ? name : 'FOLDER';
  const told = model === 'FOLDER' ? '\n\n`FOLDER` is the folder of this file.' : '';
  return [
    '```sh',
    `crab solve matrix.png --model ${model} --explain --out completed.png`,
    `crab evaluate --model ${model} --data RAVEN-10000`,
    '```',
  ]
    .join('\n')
    .concat(told);
}

const interval = ({ low, high }: Share): string =>
  low === undefined || high === undefined ? '' : ` [${percentage(low)}, ${percentage(high)}]`;

const shown = (share: Share): string => `${percentage(share.value)}${interval(share)}`;

function accuracySection(manifest: BundleManifest, rows: readonly AccuracyRow[]): string {
  if (rows.length === 0) return 'Not measured yet.';
  const lines = rows.map(({ data, variant, count, sa, saL2 }): Cell[] => {
    const paper = variant === null ? null : paperAccuracy(manifest, variant);
    return [
      escaped(data),
      variant === null ? NOTHING : VARIANT_NAMES[variant],
      whole(count),
      shown(sa),
      shown(saL2),
      paper === null ? NOTHING : percentage(paper),
    ];
  });
  const head = ['problems', 'candidates', 'count', 'own distance', 'plain L2', 'the paper'];
  const ranges = rows.some(({ sa }) => sa.low !== undefined)
    ? ' Intervals hold 95% of bootstrap resamples over problems (shares of exactly 0 or 1: Wilson).'
    : '';
  return `Percent of problems solved, one of eight candidates each; chance gives 12.5. The own distance is calibrated on what the model predicts wrong, without labels or candidates, and candidates that it leaves tied are painted; plain L2 on concepts is the paper's.${ranges}\n\n${table(head, lines, 2)}`;
}

function gsaSection({ gsa }: MeasuredModel): string[] {
  if (gsa === null || gsa.points.length === 0) return [];
  const counts = [...new Set(gsa.points.map(({ candidates }) => candidates))];
  const rows = [...new Set(gsa.points.map(({ targets }) => targets))].map((targets): Cell[] => [
    targets,
    ...counts.map((candidates) => {
      const point = gsaPointAt(gsa.points, targets, candidates);
      return point === undefined
        ? NOTHING
        : `${percentage(point.accuracy.value)} / ${percentage(point.accuracyL2?.value ?? 0)}`;
    }),
  ]);
  const head = ['panels missing', ...counts.map((candidates) => `${candidates} candidates`)];
  return [
    `Panels missing at random positions, chosen together among those of other problems (global selection accuracy, percent, own distance / plain L2):\n\n${table(head, rows)}`,
  ];
}

function groupsText(measured: MeasuredModel | null): string {
  const groups = measured?.vd?.groups ?? [];
  if (groups.length === 0) return '';
  const rows = groups.map(({ concepts, entries, determines }): Cell[] => [
    concepts.join(' '),
    escaped(determines.join(', ')) || NOTHING,
    entries,
  ]);
  return `\n\nGroups of concepts that depend on each other, found without labels too, named by what they determine:\n\n${table(['concepts', 'determine', 'values'], rows, 2)}`;
}

function conceptsSection({ conceptNames }: BundleManifest, measured: MeasuredModel | null): string {
  const rows = conceptNames.map((found, m): Cell[] => [
    m + 1,
    found === null ? NOTHING : escaped(found.name),
    // Of next to no variance a share means nothing.
    found === null || found.name === NAME_UNUSED ? NOTHING : found.score.toFixed(2),
  ]);
  return `Found without labels, and named afterwards by the attribute (or two) of the generator whose fixing takes most of their variance (0: none of it, 1: all); labels are used for names alone.\n\n${table(['concept', 'name', 'variance decline'], rows, 2)}${groupsText(measured)}`;
}

function ariSection(measured: MeasuredModel): string[] {
  const { ari } = measured;
  if (ari === null) return [];
  const paper = paperAri(measured);
  const value = (found: number | null | undefined): string =>
    found === null || found === undefined ? NOTHING : found.toFixed(2);
  const cellsOf = ({ average, byGroup }: AriTable): readonly string[] =>
    [average, byGroup.Type, byGroup.Size, byGroup.Color, byGroup['Num/Pos']].map(value);
  const head = ['adjusted Rand index', 'average', 'Type', 'Size', 'Color', 'Num/Pos'];
  const theirs = [paper?.average, paper?.type, paper?.size, paper?.color, paper?.numPos];
  const rows = [
    ['this model', ...cellsOf(ari.matrix)],
    ...(ari.groups ? [['its groups of concepts', ...cellsOf(ari.groups)]] : []),
    ...(ari.plain ? [['with a plain mixture', ...cellsOf(ari.plain)]] : []),
    ...(paper === undefined ? [] : [['the paper', ...theirs.map(value)]]),
  ];
  return [
    `Agreement of the categories that it sorts rules into with the true rules, the best concept for each attribute (1: the same, 0: chance); a plain mixture is what the paper sorts by:\n\n${table(head, rows)}`,
  ];
}

/** The card of a model, in Markdown; a measurement of another model under the same name is left out. */
export function renderModelCard(
  manifest: BundleManifest,
  measured: MeasuredModel | null,
  { published = false }: CardOptions = {},
): string {
  const known = measured !== null && isMeasurementOf(measured, manifest) ? measured : null;
  const rows = accuracyRows(manifest, known);
  const gpu = published ? PUBLISHED_GPU : SOME_GPU;
  const parts = [
    CARD_NOTE,
    `# ${escaped(manifest.name)}`,
    introduction(manifest),
    usage(manifest, published),
    '## Accuracy',
    accuracySection(manifest, rows),
    ...(known === null ? [] : gsaSection(known)),
    ...(hasRules(manifest) ? ['## Concepts and rules', conceptsSection(manifest, known)] : []),
    ...(known === null ? [] : ariSection(known)),
    '## Training',
    bullets(trainingItems(manifest, gpu)),
    COMMANDS_TOLD,
    ['```sh', ...commandsOf(manifest), '```'].join('\n'),
    '## Known weaknesses',
    bullets(weaknessItems(manifest, known, rows)),
  ];
  return `${parts.join('\n\n')}\n`;
}
