/**
 * What an address asks for and the page cannot give, in words. `readSettings` puts the initial value in its
 * place; whoever opened the link must know that it is not what was meant.
 */
import {
  MOST_SEED,
  MOST_TEST_COUNT,
  readsSetting,
  settingInAddress,
  writeSetting,
  type Settings,
} from './settings.js';

export interface LinkFault {
  readonly name: keyof Settings;
  readonly words: string;
}

const MOST_NUMBER = MOST_SEED.toLocaleString('en');
const UNKNOWN = 'this page does not know it';

/** What decides which matrix or test is shown: what it is called, and what would be right. */
const CHOSEN: Partial<Record<keyof Settings, readonly [name: string, right: string]>> = {
  seed: ['matrix number', `matrices are numbered 0 to ${MOST_NUMBER}`],
  index: ['place in a series', `places are numbered 0 to ${MOST_NUMBER}`],
  layout: ['the configuration', UNKNOWN],
  variant: ['the kind of candidates', UNKNOWN],
  difficulty: ['the difficulty', UNKNOWN],
  testSeed: ['test number', `tests are numbered 0 to ${MOST_NUMBER}`],
  testCount: ['a number of items', `a test has 1 to ${MOST_TEST_COUNT} of each configuration`],
  testLayouts: ['a test of', 'this page does not know all of these configurations'],
};

/** What is long, and means nothing to a reader. */
const PACKED: Partial<Record<keyof Settings, string>> = {
  constraints: 'rules',
  edits: 'changed panels',
  pictures: 'pictures',
};

const MOST_SHOWN = 24;
const shortened = (text: string): string =>
  text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;

/** A sentence or two for each part of an address that was not understood; `used` are its settings. */
export function linkFaults(hash: string, used: Settings): LinkFault[] {
  const damaged = (name: keyof Settings): string | null => {
    const given = settingInAddress(name, hash);
    return given === null || given === '' || readsSetting(name, given) ? null : given;
  };
  const chosen = Object.entries(CHOSEN).flatMap(([key, [what, right]]): LinkFault[] => {
    const name = key as keyof Settings;
    const given = damaged(name);
    if (given === null) return [];
    const asked = `The link asks for ${what} “${shortened(given)}”, but ${right}.`;
    const shown = writeSetting(name, used).replaceAll(',', ', ');
    return [{ name, words: `${asked} Used instead: ${shown}.` }];
  });
  const packed = Object.entries(PACKED).flatMap(([key, what]): LinkFault[] => {
    const name = key as keyof Settings;
    const words = `The ${what} in the link are damaged, so they are left out.`;
    return damaged(name) === null ? [] : [{ name, words }];
  });
  return [...chosen, ...packed];
}
