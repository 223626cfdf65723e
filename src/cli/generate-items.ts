/** Options of `crab generate --format vlm`: how items for vision-language models look. */
import type { Command } from 'commander';
import { OPTION_COUNTS, type OptionCount } from '../matrix/index.js';
import {
  DEFAULT_VLM,
  PICTURE_LAYOUTS,
  type PictureLayout,
  type VlmSetting,
} from '../matrix/node.js';
import { oneOf, wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';

export interface ItemOptions {
  layout?: PictureLayout;
  size?: number;
  options?: string;
  tiles?: boolean;
  blind?: boolean;
}

const COUNTS = OPTION_COUNTS.map(String);

export function defineItemOptions(command: Command): void {
  command
    .option(
      '--layout <name>',
      `vlm: ${PICTURE_LAYOUTS.join(', ')}; ${DEFAULT_VLM.layout} unless told`,
      oneOf(PICTURE_LAYOUTS),
    )
    .option(
      '--size <pixels>',
      `vlm: side of a panel in the clean layout; ${DEFAULT_VLM.size} unless told`,
      wholeNumber(32, 1024),
    )
    .option(
      '--options <n>',
      `vlm: options of an item, ${COUNTS.join(' or ')}; ${DEFAULT_VLM.options} unless told`,
      oneOf(COUNTS),
    )
    .option('--tiles', 'vlm: also every panel and option as a picture of its own')
    .option('--blind', 'vlm: also the options alone, for the context-blind control');
}

/** How items look, or undefined if the format has none. */
export function vlmSetting(format: string, options: ItemOptions): VlmSetting | undefined {
  const { layout, size, options: count, tiles, blind } = options;
  if (format !== 'vlm') {
    const given = Object.entries({ layout, size, options: count, tiles, blind });
    const extra = given.find(([, value]) => value !== undefined);
    if (extra) throw new UsageError(`--${extra[0]} is for --format vlm, not ${format}`);
    return undefined;
  }
  if (layout === 'ml-rpm-bench' && (size !== undefined || count === '4')) {
    throw new UsageError('--layout ml-rpm-bench has a size of its own, and eight options');
  }
  return {
    layout: layout ?? DEFAULT_VLM.layout,
    size: size ?? DEFAULT_VLM.size,
    options: count === undefined ? DEFAULT_VLM.options : (Number(count) as OptionCount),
    tiles: tiles ?? DEFAULT_VLM.tiles,
    blind: blind ?? DEFAULT_VLM.blind,
  };
}
