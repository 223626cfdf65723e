/** How commands recognise pages and JSON that they wrote. */
import { isMarked, isOfFormat } from '../lab/index.js';
import type { OwnFile } from './own-files.js';

/** A page whose footer begins with this mark. */
export const ownPage = (mark: string): OwnFile => ({
  ending: 'html',
  what: 'a page',
  isOwn: (text) => isMarked(text, mark),
});

/** JSON that says it is of this format. */
export const ownJson = (format: string, what: string): OwnFile => ({
  ending: 'json',
  what,
  isOwn: (text) => isOfFormat(text, format),
});
