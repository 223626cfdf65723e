/** Pictures as files that a person hands to the page. */
import {
  encodePng,
  greySquare,
  layoutOf,
  matrixPanels,
  renderPanel,
  sampleProblem,
  type Configuration,
  type Problem,
} from '../../src/matrix/index.js';

export interface HandedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

export const fileOf = (name: string, bytes: Uint8Array, mimeType = 'image/png'): HandedFile => ({
  name,
  mimeType,
  buffer: Buffer.from(bytes),
});

/** A grey picture of 160x160. */
export const pictureFile = (name: string, data: Uint8Array): HandedFile =>
  fileOf(name, encodePng(greySquare(data)));

/** A matrix of which the tests know everything. */
export const handedProblem = (configuration: Configuration): Problem =>
  sampleProblem({ configuration, variant: 'i-raven', seed: 5, index: 0 });

/** The nine panels of that matrix. */
export const panelFiles = (configuration: Configuration): HandedFile[] =>
  matrixPanels(handedProblem(configuration)).map((panel, i) =>
    pictureFile(`panel-${i + 1}.png`, renderPanel(layoutOf(configuration), panel)),
  );
