/** The reference sets as descriptions, recognised from their images. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  parseLabel,
  type ConfigurationLayout,
  type Panel,
  type Rule,
  type Variant,
} from '../../src/matrix/index.js';
import type { SeenProblem } from './observe.js';
import { Recogniser } from './recognise.js';
import { readArray, REFERENCE } from './reference-files.js';

const PIXELS = 64 * 64;

export const hasReferenceSets = existsSync(join(REFERENCE, 'sets'));

/** The fixed-width UCS-4 texts of a numpy array. */
function texts(bytes: Uint8Array, count: number): string[] {
  const codes = new Uint32Array(bytes.slice().buffer);
  const width = codes.length / count;
  return Array.from({ length: count }, (_, i) =>
    String.fromCodePoint(...codes.subarray(i * width, (i + 1) * width)).replace(/\0+$/, ''),
  );
}

/** Recognises the problems of a set one after another. */
export function* recognisedProblems(
  layout: ConfigurationLayout,
  variant: Variant,
  recogniser = new Recogniser(layout),
): Generator<SeenProblem> {
  const path = join(REFERENCE, 'sets', `${variant.replace('-', '')}_${layout.folder}.npz`);
  const panelImages = readArray(path, 'panel');
  const candidateImages = readArray(path, 'selection');
  const answers = new BigInt64Array(readArray(path, 'answer').slice().buffer);
  const labels = texts(readArray(path, 'label'), answers.length);
  const recognise = (images: Uint8Array, first: number, count: number): Panel[] =>
    Array.from({ length: count }, (_, i) =>
      recogniser.recognise(images.subarray((first + i) * PIXELS, (first + i + 1) * PIXELS)),
    );
  for (const [index, label] of labels.entries()) {
    yield {
      layout,
      panels: recognise(panelImages, index * 9, 9),
      candidates: recognise(candidateImages, index * 8, 8),
      target: Number(answers[index]),
      rules: parseLabel(label) as readonly (readonly Rule[])[],
    };
  }
}
