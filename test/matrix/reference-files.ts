/**
 * The data sets' own files as the rendering tests need them: panels from their XML, images from
 * their npz. Read here with a few lines of its own, so that these tests do not rest on the readers
 * that other tests check.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Unzip, UnzipInflate, unzipSync } from 'fflate';
import { SaxesParser } from 'saxes';
import {
  ALL_LAYOUTS,
  type ComponentPanel,
  type ConfigurationLayout,
  type Entity,
  type Panel,
} from '../../src/matrix/index.js';

export const REFERENCE = join(import.meta.dirname, '../../../shared/reference');
export const hasReference = existsSync(join(REFERENCE, 'files'));

const CHUNK = 1 << 14;

export interface ReferenceEntity {
  readonly component: number;
  readonly entity: Entity;
  readonly mask: string;
  readonly realBox: string;
}

export interface ReferencePanel {
  readonly panel: Panel;
  readonly entities: readonly ReferenceEntity[];
}

export interface ReferenceProblem {
  readonly name: string;
  readonly layout: ConfigurationLayout;
  /** Eight context panels, eight candidates. */
  readonly panels: readonly ReferencePanel[];
  /** u8 [16, 160, 160] */
  readonly images: Uint8Array;
}

/** The bytes of an array in an npz file, its header cut off. */
export function readArray(path: string, key: string): Uint8Array {
  const member = `${key}.npy`;
  const bytes = unzipSync(readFileSync(path), { filter: (file) => file.name === member })[member];
  const headerLength = bytes[8] + 256 * bytes[9];
  return bytes.subarray(10 + headerLength);
}

/** The first bytes of an array in a compressed npz file, without unpacking the rest of it. */
export function readArrayStart(path: string, key: string, length: number): Uint8Array {
  const file = readFileSync(path);
  const parts: Uint8Array[] = [];
  let found = 0;
  const unzip = new Unzip((entry) => {
    if (entry.name !== `${key}.npy`) return;
    entry.ondata = (error, data) => {
      if (error) throw error;
      parts.push(data);
      found += data.length;
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  const longestHeader = 1024;
  for (let at = 0; at < file.length && found < length + longestHeader; at += CHUNK) {
    unzip.push(file.subarray(at, at + CHUNK), at + CHUNK >= file.length);
  }
  const bytes = Buffer.concat(parts);
  const start = 10 + bytes[8] + 256 * bytes[9];
  return bytes.subarray(start, start + length);
}

type Attributes = Record<string, string>;

function readEntity(attributes: Attributes, slots: readonly string[]): Entity {
  return {
    slot: slots.indexOf(attributes.bbox),
    type: Number(attributes.Type),
    size: Number(attributes.Size),
    color: Number(attributes.Color),
    angle: Number(attributes.Angle),
  };
}

function readPanels(xml: string): ReferencePanel[] {
  interface Building {
    components: (ComponentPanel & { entities: Entity[] })[];
    entities: ReferenceEntity[];
  }
  const panels: Building[] = [];
  let slots: string[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const panel = panels.at(-1);
    if (name === 'Panel') panels.push({ components: [], entities: [] });
    if (name === 'Layout' && panel) {
      const position = JSON.parse(attributes.Position) as number[][];
      slots = position.map((slot) => JSON.stringify(slot));
      panel.components.push({ uniformity: Number(attributes.Uniformity), entities: [] });
    }
    if (name === 'Entity' && panel) {
      const box = JSON.stringify(JSON.parse(attributes.bbox));
      const entity = readEntity({ ...attributes, bbox: box }, slots);
      const component = panel.components.length - 1;
      panel.components[component].entities.push(entity);
      panel.entities.push({
        component,
        entity,
        mask: attributes.mask,
        realBox: attributes.real_bbox,
      });
    }
  });
  parser.write(xml).close();
  return panels.map(({ components, entities }) => ({ panel: { components }, entities }));
}

/** Every reference problem of a layout, both variants. */
export function* referenceProblems(layout: ConfigurationLayout): Generator<ReferenceProblem> {
  for (const variant of ['raven', 'iraven']) {
    const folder = join(REFERENCE, 'files', variant, layout.folder);
    for (const file of readdirSync(folder).filter((entry) => entry.endsWith('.xml'))) {
      const path = join(folder, file);
      yield {
        name: `${variant}/${layout.folder}/${file}`,
        layout,
        panels: readPanels(readFileSync(path, 'utf8')),
        images: readArray(path.replace(/xml$/, 'npz'), 'image'),
      };
    }
  }
}

export const allReferenceProblems = (): ReferenceProblem[] =>
  ALL_LAYOUTS.flatMap((layout) => [...referenceProblems(layout)]);
