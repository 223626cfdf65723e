/** Pictures of answers at arbitrary positions, systems as rows, as the paper shows them. */
import path from 'node:path';
import { ArgumentError, counted } from '../../base/index.js';
import { CONFIGURATIONS, MATRIX_PANELS, paperName } from '../../matrix/index.js';
import { SYSTEM_NAMES } from '../../models/index.js';
import { requireOwnFigures } from '../figures/own-figures.js';
import { systemAnswersFigure, type AnswersRow } from '../figures/system-answers.js';
import { examplePictures, PAINTED_TARGETS, type PaintedAnswers } from '../painted-answers.js';
import { panelsOf } from './pictures.js';
import { paperSystemName } from '../paper.js';
import { writeFigures } from './report.js';
import type { ReportFigure } from './markup.js';

const orderOf = (system: string): number => {
  const at = SYSTEM_NAMES.indexOf(system);
  return at < 0 ? SYSTEM_NAMES.length : at;
};

type Row = Pick<PaintedAnswers, 'system' | 'preset'>;

/** Systems and presets in the order of the registry, each once. */
function rowKeys(all: readonly PaintedAnswers[]): Row[] {
  const byKey = new Map(all.map((each) => [`${each.system} ${each.preset}`, each]));
  return [...byKey.values()].sort(
    (a, b) => orderOf(a.system) - orderOf(b.system) || a.preset.localeCompare(b.preset),
  );
}

type Layout = Pick<PaintedAnswers, 'configuration' | 'noisy'>;
const sameLayout = (a: Layout, b: Layout): boolean =>
  a.configuration === b.configuration && a.noisy === b.noisy;

const sameRow = (a: Row, b: Row): boolean => a.system === b.system && a.preset === b.preset;

const nameOf = ({ system, preset }: Row): string => `${paperSystemName(system)} (preset ${preset})`;

/** What a model was asked: "ANP (preset ours) was asked 1 problem of seed 5". */
const askedWords = (of: PaintedAnswers): string =>
  `${nameOf(of)} was asked ${counted(of.examples.length, 'problem')} of seed ${of.seed}`;

/** One answer for each configuration, from any system: all were asked the same, and each fills one place. */
function columnsOf(all: readonly PaintedAnswers[]): PaintedAnswers[] {
  const columns = CONFIGURATIONS.flatMap((configuration) =>
    [false, true].flatMap(
      (noisy) => all.find((each) => sameLayout(each, { configuration, noisy })) ?? [],
    ),
  );
  for (const own of all) {
    const shown = columns.find((each) => sameLayout(each, own)) as PaintedAnswers;
    if (shown.seed !== own.seed || shown.examples.length !== own.examples.length) {
      throw new ArgumentError(
        `${paperName(own.configuration)}: ${askedWords(own)}, but ${askedWords(shown)}: paint all with the same --seed and --examples`,
      );
    }
    const twin = all.find((each) => each !== own && sameRow(each, own) && sameLayout(each, own));
    if (twin !== undefined) {
      throw new ArgumentError(
        `${paperName(own.configuration)}: two of the models are ${nameOf(own)}, which has one row: name one of them`,
      );
    }
  }
  return columns;
}

const figureId = (targets: number): string => `answers-${targets}-missing`;

/** A figure for each number of missing panels. */
export function systemAnswersFigures(all: readonly PaintedAnswers[]): ReportFigure[] {
  const columns = columnsOf(all);
  const places = columns.flatMap((of) => of.examples.map((_, index) => ({ of, index })));
  const keys = rowKeys(all);
  return PAINTED_TARGETS.map((targets, t) => {
    const rows = keys.map(({ system, preset }): AnswersRow => ({
      system: paperSystemName(system),
      preset,
      answers: places.map(({ of, index }) => {
        const own = all.find((each) => sameRow(each, { system, preset }) && sameLayout(each, of));
        return own?.examples[index][t].images.map((image) => panelsOf(image, 1)[0]) ?? null;
      }),
    }));
    const figure = systemAnswersFigure(
      places.map(({ of, index }) => ({
        title: `${paperName(of.configuration)}${of.noisy ? ', noisy' : ''}`,
        panels: panelsOf(examplePictures(of, index), MATRIX_PANELS),
        missing: of.examples[index][t].missing,
      })),
      rows,
    );
    const taken = targets === 1 ? 'one panel' : 'two panels';
    return {
      id: figureId(targets),
      figure,
      caption: `Top: whole problems. Below: the same with ${taken} taken away and imagined from the others (framed), by each system.`,
    };
  });
}

/** The files that `writeSystemAnswers` writes; refused if one is there that we did not draw. */
export async function systemAnswersFiles(folder: string): Promise<string[]> {
  const files = PAINTED_TARGETS.flatMap((targets) =>
    ['svg', 'png'].map((ending) => path.join(folder, `${figureId(targets)}.${ending}`)),
  );
  await requireOwnFigures(files);
  return files;
}

/** Draws them as `answers-1-missing` and `answers-2-missing`, SVG and PNG; gives the files. */
export async function writeSystemAnswers(
  all: readonly PaintedAnswers[],
  folder: string,
  signal?: AbortSignal,
): Promise<string[]> {
  if (all.length === 0) throw new ArgumentError('there are no answers to draw');
  const files = await systemAnswersFiles(folder);
  await writeFigures(systemAnswersFigures(all), folder, signal);
  return files;
}
