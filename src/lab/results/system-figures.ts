/**
 * Figures that compare all systems, drawn from measured trainings: `images/systems/NAME-light.svg` and
 * `NAME-dark.svg` in a folder of documents, and the Markdown that shows the one that suits the page.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, writeFileAtomically } from '../../base/node.js';
import { CONFIGURATIONS, paperName } from '../../matrix/index.js';
import { SYSTEMS } from '../../models/index.js';
import {
  learningFigure,
  requireOwnFigures,
  shortcutFigure,
  systemsGsaFigure,
  THEMES,
  toSvg,
  withTheme,
  type BlindSpot,
  type Figure,
  type SystemGsa,
  type Theme,
} from '../figures/index.js';
import { listed } from '../markdown.js';
import { paperSystemName } from '../paper.js';
import { NO_TRAININGS } from './system-tables.js';
import {
  BLIND,
  endlessTrainings,
  inConfiguration,
  meanOverTrainings,
  printedRow,
  publishedPreset,
  publishedTrainings,
  trainingShare,
  trainingsOf,
  type Trainings,
} from './systems.js';

/** Which trainings of a system a figure shows. */
type Choice = (trainings: Trainings, system: string) => Trainings;

/** Means over trainings on RAVEN and on I-RAVEN; null if one of them was not measured. */
function meanSpot(trainings: Trainings) {
  const [raven, iRaven] = (['raven', 'i-raven'] as const).map((variant) =>
    meanOverTrainings(trainings, (each) => trainingShare(each, variant)),
  );
  return raven === null || iRaven === null ? null : { raven, iRaven };
}

/** Blind trainings, each beside those of the same configurations that see. */
function blindSpots(trainings: Trainings): BlindSpot[] {
  return SYSTEMS.flatMap((system) => {
    const preset = publishedPreset(system.name);
    const own = trainingsOf(trainings, system.name, preset, BLIND);
    const blind = meanSpot(own);
    if (blind === null) return [];
    const sighted = own.map(({ configuration }) =>
      inConfiguration(trainingsOf(trainings, system.name, preset), configuration),
    );
    const known = sighted.filter((each) => each !== undefined);
    const same = known.length === own.length ? meanSpot(known) : null;
    return [{ name: paperSystemName(system.name), blind, sighted: same }];
  });
}

function shortcut(trainings: Trainings): Figure | null {
  const spots = SYSTEMS.flatMap((system) => {
    const row = printedRow(publishedTrainings(trainings, system.name));
    const [raven, iRaven] = row?.average ?? [null, null];
    if (raven === null || iRaven === null) return [];
    const selective = system.positions === 'last';
    return [{ name: paperSystemName(system.name), raven, iRaven, selective }];
  });
  const blind = blindSpots(trainings);
  const seen = trainings.filter(({ tag }) => tag === BLIND);
  const shown = CONFIGURATIONS.filter((each) => inConfiguration(seen, each) !== undefined);
  if (spots.length + blind.length === 0) return null;
  return shortcutFigure(spots, blind, listed(shown.map(paperName)));
}

const learning =
  (choice: Choice) =>
  (trainings: Trainings): Figure | null => {
    const systems = SYSTEMS.flatMap((system) => {
      const own = choice(trainings, system.name);
      const curves = own.map(({ curve }) => ({ points: curve }));
      return curves.length === 0 ? [] : [{ name: paperSystemName(system.name), curves }];
    });
    return systems.length === 0 ? null : learningFigure(systems);
  };

const gsa =
  (choice: Choice) =>
  (trainings: Trainings): Figure | null => {
    const systems = SYSTEMS.filter(({ positions }) => positions === 'any').flatMap(
      (system): SystemGsa[] => {
        const own = choice(trainings, system.name);
        const points = CONFIGURATIONS.flatMap((configuration) =>
          (inConfiguration(own, configuration)?.evaluation.gsa ?? []).map((point) => ({
            configuration: paperName(configuration),
            targets: point.targets,
            candidates: point.candidates,
            accuracy: point.accuracyL2 ?? point.accuracy,
          })),
        );
        return points.length === 0 ? [] : [{ name: paperSystemName(system.name), points }];
      },
    );
    return systems.length === 0 ? null : systemsGsaFigure(systems);
  };

/** Figures by name; null if there is nothing to draw. */
const FIGURES: Readonly<Record<string, (trainings: Trainings) => Figure | null>> = {
  'raven-against-i-raven': shortcut,
  learning: learning(publishedTrainings),
  'learning-endless': learning(endlessTrainings),
  gsa: gsa(publishedTrainings),
  'gsa-endless': gsa(endlessTrainings),
};

const FOLDER = 'images/systems';
const fileOf = (name: string, theme: Theme): string => `${FOLDER}/${name}-${theme}.svg`;

const markup = (name: string, label: string): string =>
  [
    '<picture>',
    `<source media="(prefers-color-scheme: dark)" srcset="${fileOf(name, 'dark')}">`,
    `<img src="${fileOf(name, 'light')}" alt="${label.replaceAll('"', '')}">`,
    '</picture>',
  ].join('');

/** Sections that show the figures, by name. */
export const FIGURE_SECTIONS: Readonly<Record<string, (trainings: Trainings) => string>> =
  Object.fromEntries(
    Object.entries(FIGURES).map(([name, draw]) => [
      `systems-figure-${name}`,
      (trainings: Trainings): string => {
        const drawn = draw(trainings);
        return drawn === null ? NO_TRAININGS : markup(name, drawn.label);
      },
    ]),
  );

/** Files of the figures of some trainings: their paths in the folder of documents, and the SVG. */
export function systemFigureFiles(trainings: Trainings): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [name, draw] of Object.entries(FIGURES)) {
    const drawn = draw(trainings);
    if (drawn === null) continue;
    for (const theme of THEMES) files.set(fileOf(name, theme), withTheme(toSvg(drawn), theme));
  }
  return files;
}

/** Writes the figures into a folder of documents; those without trainings are removed. */
export async function writeSystemFigures(docs: string, trainings: Trainings): Promise<string[]> {
  const files = systemFigureFiles(trainings);
  const all = Object.keys(FIGURES).flatMap((name) => THEMES.map((theme) => fileOf(name, theme)));
  await requireOwnFigures(all.map((file) => path.join(docs, file)));
  if (files.size > 0) await makeFolder(path.join(docs, FOLDER));
  for (const file of all) {
    const svg = files.get(file);
    if (svg === undefined) await rm(path.join(docs, file), { force: true });
    else await writeFileAtomically(path.join(docs, file), `${svg}\n`);
  }
  return [...files.keys()];
}
