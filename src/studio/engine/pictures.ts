/**
 * A person's own pictures: read from files of any kind a browser can show, from RAVEN's .npz, or from
 * one picture of a whole matrix; and packed into a text short enough for a link.
 */
import { ArgumentError, FormatError } from '../../base/index.js';
import {
  layoutName,
  MATRIX_PANELS,
  SMALL_PIXELS,
  type ConfigurationLayout,
} from '../../matrix/index.js';
import {
  browserPicture,
  drawnPanel,
  ravenProblem,
  readMatrixPicture,
  recognise,
  recogniseProblem,
  toPanel,
  type Panel,
} from '../../solver/index.js';
import type { GivenFile } from './protocol.js';

/** What pictures show. */
interface Pictures {
  /** Nine; null where a cell is blank. */
  readonly panels: readonly (Panel | null)[];
  readonly candidates: readonly Panel[];
  readonly target: number | null;
}

/** Pictures read from files, and the layout they were recognised as; null if no model can know them. */
interface FoundPictures extends Pictures {
  readonly layout: string | null;
}

const MOST_CANDIDATES = 16;
const MOST_FILE_BYTES = 32 << 20;
/** Longest text a link may carry; browsers and messengers cut longer ones. */
const MOST_CHARACTERS = 24_000;
const VERSION = 1;
const HEADER = 5;

/** The name of a layout that models can be of: none knows a mesh. */
const knownName = (layout: ConfigurationLayout | null): string | null =>
  layout === null || layout.mesh ? null : layoutName(layout);

async function readNpzFile({ name, blob }: GivenFile): Promise<FoundPictures> {
  const problem = await ravenProblem(new Uint8Array(await blob.arrayBuffer()), name);
  const { panels, candidates, answer } = problem;
  return {
    panels: panels.map((panel) => panel ?? candidates[answer ?? 0]),
    candidates,
    target: answer,
    layout: knownName(recogniseProblem(problem).layout),
  };
}

async function readWholeMatrix(file: GivenFile): Promise<Pictures> {
  const { width, height, data } = await browserPicture(file.blob, file.name);
  const grey = new Float32Array(width * height);
  for (let i = 0; i < grey.length; i++) {
    const luma = 0.299 * data[4 * i] + 0.587 * data[4 * i + 1] + 0.114 * data[4 * i + 2];
    grey[i] = 1 - (data[4 * i + 3] / 255) * (1 - luma / 255);
  }
  try {
    const { panels, candidates } = readMatrixPicture({ width, height, data: grey });
    return { panels, candidates: candidates.slice(0, MOST_CANDIDATES), target: null };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FormatError(`${file.name}: ${why}`, { cause: error });
  }
}

async function readSinglePanels(files: readonly GivenFile[]): Promise<Pictures> {
  const sorted = [...files].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  const given: Panel[] = [];
  for (const file of sorted) {
    given.push(toPanel(await browserPicture(file.blob, file.name), file.name));
  }
  const drawn = given.map(drawnPanel);
  // If nothing is drawn at all, the page says so better than nine blanks.
  const panels: (Panel | null)[] = drawn.every((panel) => panel === null) ? given : drawn;
  if (panels.length === MATRIX_PANELS - 1) panels.push(null);
  return { panels, candidates: [], target: null };
}

/** Says what pictures are of, and draws those in another style anew. */
function recognised(pictures: Pictures): FoundPictures {
  const found = recognise(pictures);
  if (found === null) return { ...pictures, layout: null };
  const { panels, candidates, layout } = found;
  return { panels, candidates, target: pictures.target, layout: knownName(layout) };
}

/** Reads what a person dropped: one .npz, one picture of a matrix, or eight or nine of panels. */
export async function readFiles(files: readonly GivenFile[]): Promise<FoundPictures> {
  const large = files.find(({ blob }) => blob.size > MOST_FILE_BYTES);
  if (large !== undefined) throw new FormatError(`${large.name} is larger than 32 MB`);
  if (files.length === 1) {
    const [file] = files;
    if (file.name.toLowerCase().endsWith('.npz')) return readNpzFile(file);
    return recognised(await readWholeMatrix(file));
  }
  if (files.length === MATRIX_PANELS || files.length === MATRIX_PANELS - 1)
    return recognised(await readSinglePanels(files));
  throw new ArgumentError(
    `${files.length} files: give nine pictures of panels (or eight without the last), one picture of the whole matrix, or one .npz of RAVEN`,
  );
}

async function throughStream(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const body = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

function toText(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromText(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Pictures as a text for a link: grey values of every panel, deflated. */
export async function packPictures({ panels, candidates, target }: Pictures): Promise<string> {
  const shown = [...panels.filter((panel) => panel !== null), ...candidates];
  const bytes = new Uint8Array(HEADER + shown.length * SMALL_PIXELS);
  const blank = panels.reduce((mask, panel, i) => (panel === null ? mask | (1 << i) : mask), 0);
  bytes.set([
    VERSION,
    candidates.length,
    target === null ? 0 : target + 1,
    blank & 255,
    blank >> 8,
  ]);
  shown.forEach((panel, n) => {
    const at = HEADER + n * SMALL_PIXELS;
    for (let i = 0; i < SMALL_PIXELS; i++) bytes[at + i] = Math.round(255 * panel[i]);
  });
  const packed = toText(await throughStream(bytes, new CompressionStream('deflate-raw')));
  if (packed.length <= MOST_CHARACTERS) return packed;
  if (candidates.length > 0) return packPictures({ panels, candidates: [], target: null });
  throw new FormatError(
    'these pictures hold too much detail for a link: drawings of few shades are what the models know',
  );
}

/** The opposite of `packPictures`; the text comes from a link and is not trusted. */
export async function unpackPictures(packed: string): Promise<Pictures> {
  let bytes: Uint8Array;
  try {
    if (packed.length > MOST_CHARACTERS) throw new FormatError('too long');
    bytes = await throughStream(fromText(packed), new DecompressionStream('deflate-raw'));
  } catch (cause) {
    throw new FormatError('the pictures in this link are damaged', { cause });
  }
  const [version, count, target, low, high] = bytes;
  const blank = low | (high << 8);
  const places = Array.from({ length: MATRIX_PANELS }, (_, i) => (blank >> i) & 1);
  const present = places.filter((isBlank) => isBlank === 0).length;
  const sound =
    version === VERSION &&
    count <= MOST_CANDIDATES &&
    target <= count &&
    present > 0 &&
    bytes.length === HEADER + (present + count) * SMALL_PIXELS;
  if (!sound) throw new FormatError('the pictures in this link are damaged');
  let at = HEADER;
  const next = (): Panel => {
    const panel = Float32Array.from(bytes.subarray(at, at + SMALL_PIXELS), (byte) => byte / 255);
    at += SMALL_PIXELS;
    return panel;
  };
  const panels = places.map((isBlank) => (isBlank === 1 ? null : next()));
  const candidates = Array.from({ length: count }, next);
  return { panels, candidates, target: target === 0 ? null : target - 1 };
}
