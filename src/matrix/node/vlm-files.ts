/**
 * The files of items for vision-language models: for each problem a picture of the whole, perhaps its
 * single tiles, and lines of `items.jsonl`, `items.tsv` and `perception.jsonl` beside them.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { benchOptions, benchPicture, benchTiles } from '../bench-picture.js';
import { layoutOfProblem } from '../layouts.js';
import { perceptionQuestions } from '../perception.js';
import { encodePng, isWholePng, type Picture } from '../png.js';
import type { Problem } from '../problem.js';
import { IMAGE_SIZE } from '../render-entity.js';
import { renderProblem } from '../render-panel.js';
import { problemToSvg, renderSvg } from '../svg.js';
import {
  blindQuestion,
  LETTERS,
  optionIndices,
  tsvColumns,
  tsvLine,
  vlmItem,
  withCandidates,
  type OptionCount,
} from '../vlm-item.js';
import type { ProblemFile } from './raven-folder.js';
import { svgDrawer, type DrawSvg } from './svg-picture.js';

/** How items look: a layout of ours, or that of ml-rpm-bench. */
export const PICTURE_LAYOUTS = ['clean', 'ml-rpm-bench'] as const;
export type PictureLayout = (typeof PICTURE_LAYOUTS)[number];

export interface VlmSetting {
  readonly layout: PictureLayout;
  readonly options: OptionCount;
  /** Side of a panel of the matrix in pixels; ml-rpm-bench has its own. */
  readonly size: number;
  /** Also write every panel and option as a picture of its own. */
  readonly tiles: boolean;
  /** Also write a picture of the options alone, for the context-blind control. */
  readonly blind: boolean;
}

/** The tables of a folder of items, with their first lines. */
export const vlmTables = (options: OptionCount): Readonly<Record<string, string>> => ({
  'items.jsonl': '',
  'items.tsv': `${tsvColumns(options).join('\t')}\n`,
  'perception.jsonl': '',
});

interface VlmFiles {
  readonly files: readonly ProblemFile[];
  /** Text for each table. */
  readonly tables: Readonly<Record<string, string>>;
}

interface DrawnItem {
  readonly whole: Picture;
  readonly blind: () => Picture;
  readonly tiles: () => Map<string, Picture>;
}
type DrawItem = (problem: Problem) => DrawnItem;

export async function vlmForm(
  folder: string,
  setting: VlmSetting,
  seed: number,
): Promise<(problem: Problem, index: number) => VlmFiles> {
  const draw = setting.layout === 'clean' ? cleanItem(await svgDrawer(), setting.size) : benchItem;
  return (all, index) => {
    const kept = optionIndices(all, setting.options, seed, index);
    const item = vlmItem(all, kept, seed, index);
    const problem = withCandidates(all, kept);
    const { whole, blind, tiles } = draw(problem);
    const image = path.posix.join('pictures', `${item.id}.png`);
    const files = [{ name: image, bytes: encodePng(whole) }];
    const tileNames: Record<string, string> = {};
    if (setting.tiles) {
      mkdirSync(path.join(folder, 'tiles', item.id), { recursive: true });
      for (const [name, picture] of tiles()) {
        tileNames[name] = path.posix.join('tiles', item.id, `${name}.png`);
        files.push({ name: tileNames[name], bytes: encodePng(picture) });
      }
    }
    const alone: Record<string, string> = {};
    if (setting.blind) {
      alone.blind_image = path.posix.join('blind', `${item.id}.png`);
      alone.blind_question = blindQuestion(setting.options);
      files.push({ name: alone.blind_image, bytes: encodePng(blind()) });
    }
    const { id, answer, question, ...rest } = item;
    const pictures = { image, ...alone, ...(setting.tiles ? { tiles: tileNames } : {}) };
    const questions = perceptionQuestions(problem, seed, index).map((asked) =>
      json({ id: `${id}/${asked.kind}`, image, ...asked, configuration: item.configuration }),
    );
    return {
      files: files.map(({ name, bytes }) => ({
        file: path.join(folder, name),
        bytes: () => bytes,
        isWhole: isWholePng,
      })),
      tables: {
        'items.jsonl': json({ id, ...pictures, question, answer, ...rest }),
        'items.tsv': `${tsvLine(item, Buffer.from(files[0].bytes).toString('base64'))}\n`,
        'perception.jsonl': questions.join(''),
      },
    };
  };
}

const json = (value: unknown): string => `${JSON.stringify(value)}\n`;

const benchItem: DrawItem = (problem) => {
  const { images } = renderProblem(problem);
  return {
    whole: benchPicture(images),
    blind: () => benchOptions(images),
    tiles: () => benchTiles(images),
  };
};

/** Everything on an item to solve is grey. */
function cleanItem(draw: DrawSvg, size: number): DrawItem {
  const drawing = { scale: size / IMAGE_SIZE, background: '#ffffff' };
  // A frame of less than a pixel would be lost.
  const frameWidth = Math.max(1, 1 / drawing.scale);
  const picture = (svg: string): Picture =>
    draw(svg, drawing, (image) => {
      const { width, height, pixels } = image;
      const data = new Uint8Array(width * height);
      for (let i = 0; i < data.length; i++) data[i] = pixels[4 * i];
      return { width, height, channels: 1, data };
    });
  return (problem) => {
    const layout = layoutOfProblem(problem);
    const tiles = (): Map<string, Picture> =>
      new Map(
        [
          ...problem.context.map((panel, i) => [`${i + 1}`, renderSvg(layout, panel)] as const),
          ...problem.candidates.map(
            ({ panel }, i) => [LETTERS[i], renderSvg(layout, panel)] as const,
          ),
        ].map(([name, svg]) => [name, picture(svg)]),
      );
    const style = { letters: true, sameScale: true, frameWidth };
    const whole = picture(problemToSvg(problem, style));
    const blind = (): Picture => picture(problemToSvg(problem, { ...style, withoutMatrix: true }));
    return { whole, blind, tiles };
  };
}
