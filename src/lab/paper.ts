/**
 * What the paper prints, number for number: Table 1 (selection accuracy in percent, RAVEN/I-RAVEN; a
 * star on both sides marks bold) and the table of adjusted Rand indices. A test compares both with the
 * paper's source. Beside it what the repositories of selective systems print.
 */
import {
  CONFIGURATIONS,
  HUMAN_ACCURACY,
  paperName,
  RAVEN_ORDER,
  type Configuration,
  type Variant,
} from '../matrix/index.js';

export interface PaperAccuracyRow {
  readonly kind: 'selective' | 'generative' | 'human';
  readonly name: string;
  /** Supervision beyond the matrices: D distractors, R rule annotations, - none. */
  readonly aux: string;
  /** The average, then one for each configuration, as printed. */
  readonly cells: readonly string[];
}

const TABLE_1 = `
selective  LSTM        D   13.2/12.9 14.2/12.3 11.7/13.4 12.9/12.2 12.2/13.2 13.1/12.8 14.3/13.6 13.8/13.1
selective  CNN         D   16.1/12.9 15.6/12.8 16.1/13.5 16.2/12.0 16.2/12.1 18.3/14.3 13.7/13.6 16.6/12.3
selective  ResNet-50   D   21.2/12.9 18.7/14.0 24.0/13.6 21.9/12.9 23.1/12.2 21.0/13.0 20.2/12.7 19.7/11.7
selective  LSTM+DRT    D+R 14.1/13.1 14.1/13.4 11.9/13.9 12.8/12.1 13.6/14.4 13.1/13.2 16.8/12.9 16.1/11.8
selective  CNN+DRT     D+R 14.0/13.0 13.5/12.6 11.4/13.5 16.5/11.7 12.2/15.1 15.1/12.5 14.8/12.9 14.8/12.6
selective  ResNet+DRT  D+R 36.2/12.8 33.3/13.2 46.9/13.4 41.9/12.1 41.6/12.1 32.3/13.3 30.2/12.4 26.9/12.8
selective  WReN        D   22.9/38.1 14.0/46.9 8.6/52.1 9.3/49.3 8.1/55.2 23.0/35.9 44.2/13.9 53.3/13.4
selective  SRAN        D   56.1/61.0 75.2/89.6 31.0/67.6 33.2/70.9 39.3/75.7 68.0/52.2 66.9/38.6 79.3/32.2
selective  LEN         D   72.4/15.0 69.3/15.3 74.5/14.6 74.2/15.5 72.8/12.8 77.6/15.7 65.0/15.1 73.5/16.1
selective  CoPINet     D   *95.6*/15.2 99.4/17.1 *99.5*/13.9 99.5/14.5 98.7/13.2 *94.9*/15.2 88.1/16.3 *89.3*/16.4
selective  SCL         D   95.1/*85.7* *99.9*/*99.9* 99.1/*99.7* *99.9*/*99.9* *99.8*/*99.2* 92.0/*80.6* *98.0*/*78.2* 77.0/*42.5*
generative GCA-I       D+R 14.9/29.5 14.0/34.4 7.9/28.3 7.5/26.7 13.4/43.8 21.2/38.0 19.5/18.3 20.6/17.2
generative GCA-R       D+R 17.0/33.3 16.6/39.0 9.4/32.3 6.9/27.3 17.3/51.7 20.7/39.9 21.9/22.3 25.9/20.9
generative GCA-C       D+R 42.1/45.8 37.3/56.8 26.4/57.4 21.5/45.7 30.2/60.3 53.8/41.7 58.8/31.8 67.0/26.9
generative ALANS       D+R 54.9/64.5 45.4/61.2 45.7/67.7 44.0/65.0 38.0/64.9 47.1/55.0 77.6/67.9 86.4/69.8
generative PrAE        D+R 83.3/86.6 97.2/98.6 *96.4*/*98.3* *96.7*/*98.0* *95.8*/98.2 79.4/80.0 84.0/83.1 33.6/50.2
generative GCA-I       D   9.8/22.1 10.6/21.8 5.4/21.3 4.9/16.2 10.1/28.5 14.1/33.3 12.1/16.4 11.2/17.0
generative GCA-R       D   12.8/26.7 11.6/26.7 7.7/24.3 5.0/20.8 15.0/37.9 18.2/36.6 16.8/22.0 15.2/18.8
generative GCA-C       D   37.3/39.5 32.8/48.2 19.5/46.8 15.5/37.8 26.5/50.5 45.2/40.9 54.7/29.2 67.1/23.2
generative ALANS       D   50.1/60.8 32.2/51.9 45.0/68.8 40.0/60.0 36.0/58.3 44.7/52.8 70.5/65.1 82.6/68.4
generative PrAE        D   13.6/24.7 14.5/22.6 7.1/21.2 11.1/26.5 7.1/16.9 10.5/25.6 22.7/29.4 22.1/30.5
generative LoGe        -   --/62.9 --/87.5 --/51.7 --/64.0 --/48.5 --/-- --/-- --/--
generative LGPP        -   4.9/16.1 9.2/20.1 4.7/18.9 5.2/21.2 4.0/13.9 3.4/12.3 4.1/13.0 4.0/13.1
generative ANP         -   10.9/27.5 9.8/47.4 4.1/20.3 3.5/20.7 5.4/38.2 31.5/34.0 10.0/15.6 12.0/16.3
generative CLAP-NP     -   17.3/35.9 30.4/42.9 13.4/35.1 12.2/32.1 16.4/37.5 14.4/31.7 22.5/39.1 12.1/32.9
generative Transformer -   59.8/73.5 *98.4*/*99.2* 67.0/91.1 60.9/86.6 14.5/69.9 70.6/57.9 73.3/73.0 34.2/37.0
generative CRAB        -   *94.7*/*95.9* 96.6/97.1 93.9/96.7 95.3/97.5 94.6/*98.9* *96.6*/*96.9* *95.8*/*93.3* *90.2*/*91.1*
human      Human       -   84.4 95.5 81.8 79.6 86.4 81.8 86.4 81.8`;

export const PAPER_ACCURACY: readonly PaperAccuracyRow[] = TABLE_1.trim()
  .split('\n')
  .map((line) => {
    const [kind, name, aux, ...cells] = line.split(/ +/);
    return { kind: kind as PaperAccuracyRow['kind'], name, aux, cells };
  });

/** Rows of a system: `resnet` is ResNet-50, `resnet-drt` is ResNet+DRT, `gca` is GCA-I, GCA-R and GCA-C. */
export function paperRows(system: string): readonly PaperAccuracyRow[] {
  const called = ({ name }: PaperAccuracyRow): string => name.toLowerCase().replace('+', '-');
  const exact = PAPER_ACCURACY.filter((row) => called(row) === system);
  if (exact.length > 0) return exact;
  const kinds = new RegExp(`^${system}-(?:\\d+|[a-z])$`);
  return PAPER_ACCURACY.filter((row) => kinds.test(called(row)));
}

/** A system as the paper calls it, e.g. `ResNet+DRT`. */
export const paperSystemName = (system: string): string => paperRows(system).at(0)?.name ?? system;

/**
 * Averages in percent that the released repositories of selective systems print, each trained on all seven
 * configurations together and tested with the candidates it was trained with; null if none is printed.
 */
export const REPOSITORY_AVERAGES: Readonly<
  Record<string, Readonly<Record<'raven' | 'i-raven', number | null>>>
> = {
  lstm: { raven: 13.1, 'i-raven': 18.9 },
  cnn: { raven: 37.0, 'i-raven': null },
  resnet: { raven: 53.4, 'i-raven': 40.3 },
  'lstm-drt': { raven: 14.0, 'i-raven': null },
  'cnn-drt': { raven: 39.4, 'i-raven': null },
  'resnet-drt': { raven: 59.6, 'i-raven': 40.4 },
  wren: { raven: 14.7, 'i-raven': 23.8 },
  sran: { raven: null, 'i-raven': 60.8 },
  len: { raven: null, 'i-raven': 41.4 },
  copinet: { raven: 91.4, 'i-raven': 46.1 },
};

/** A printed cell as a fraction, by its configuration or the average; null if there is none. */
export function paperShare(
  row: PaperAccuracyRow | undefined,
  configuration: Configuration | 'average',
  variant: Variant,
): number | null {
  const column = configuration === 'average' ? 0 : 1 + CONFIGURATIONS.indexOf(configuration);
  const parts = row?.cells[column].replaceAll('*', '').split('/') ?? [];
  const value = Number(parts.at(variant === 'i-raven' ? 1 : 0) ?? NaN);
  return Number.isFinite(value) ? value / 100 : null;
}

/** A printed cell without bold, as tables of Markdown have it: `98.6 / 97.2`. */
export const plainCell = (cell: string): string => cell.replaceAll('*', '').replace('/', ' / ');

/** What readers of the row of people must know. */
export const HUMAN_NOTE =
  `The row Human is as the paper prints it: the figures of RAVEN's authors, in the order of their ` +
  `columns, not of these headings. By configuration they are ${RAVEN_ORDER.map(
    (name) => `${paperName(name)} ${HUMAN_ACCURACY[name].toFixed(2)}`,
  ).join(', ')}.`;

export interface PaperAriRow {
  /** A configuration as the paper calls it, or Average. */
  readonly name: string;
  readonly average: number;
  readonly type: number;
  readonly size: number;
  readonly color: number;
  readonly numPos: number | null;
}

export const PAPER_ARI: readonly PaperAriRow[] = [
  { name: 'Center', average: 0.7332, type: 0.6018, size: 0.6099, color: 0.9878, numPos: null },
  { name: 'L-R', average: 0.6963, type: 0.6409, size: 0.854, color: 0.5942, numPos: null },
  { name: 'U-D', average: 0.7583, type: 0.6225, size: 0.8525, color: 0.8001, numPos: null },
  { name: 'O-IC', average: 0.3899, type: 0.3026, size: 0.177, color: 0.9903, numPos: null },
  { name: 'O-IG', average: 0.3943, type: 0.0766, size: 0.9542, color: 0.6059, numPos: 0.2582 },
  { name: '2x2Grid', average: 0.4866, type: 0.0039, size: 0.6973, color: 0.9932, numPos: 0.252 },
  { name: '3x3Grid', average: 0.5847, type: 0.3916, size: 0.775, color: 0.9872, numPos: 0.1849 },
  { name: 'Average', average: 0.5819, type: 0.3771, size: 0.7928, color: 0.8512, numPos: 0.2317 },
];

/** The paper's row for models of a configuration; it leaves noisy grids and other systems out. */
export const paperAri = ({
  system,
  configuration,
  noisy,
}: {
  readonly system: string;
  readonly configuration: Configuration;
  readonly noisy: boolean;
}): PaperAriRow | undefined =>
  noisy || system !== 'crab'
    ? undefined
    : PAPER_ARI.find(({ name }) => name === paperName(configuration));
