import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FormatError } from '../../src/base/index.js';
import {
  ALL_LAYOUTS,
  decodeRavenNpz,
  encodeSet,
  problemToBatch,
  encodeRavenNpz,
  findLayout,
  formatRavenXml,
  layoutOf,
  parseRavenFileName,
  parseRavenXml,
  partOf,
  readNpz,
  renderProblem,
  sampleProblem,
  PAPER_VARIANTS,
  type Problem,
  type SetBatch,
} from '../../src/matrix/index.js';
import {
  configurationFolders,
  labelOfRaven,
  layoutOfFolder,
  listRavenFolder,
  openRavenFolder,
  openSet,
  readRavenFolder,
  readRavenProblem,
  writeRavenProblem,
} from '../../src/matrix/node.js';
import { scratchFolder } from '../scratch-folder.js';
import {
  hasReference,
  pythonWithNumpy,
  referenceFiles,
  referenceFolders,
  referenceSets,
  runPython,
} from './file-helpers.js';

const sample = (name: string, variant: Problem['variant'], index = 0): Problem => {
  const { configuration, noisy } = findLayout(name);
  return sampleProblem({ configuration, noisy, variant, seed: 7, index });
};

/** The ten problems of a set that the folder of the same name holds. */
async function beginningOfSet(folder: string): Promise<SetBatch> {
  const name = `${path.basename(path.dirname(folder))}_${path.basename(folder)}.npz`;
  const set = await openSet(path.join(referenceSets, name));
  const batch = await set.read(0, 10);
  await set.close();
  return batch;
}

describe.skipIf(!hasReference)('the reference problems', () => {
  const folders = hasReference ? referenceFolders() : [];

  test('are those of both variants of every layout', () => {
    expect(folders).toHaveLength(20);
  });

  test.each(folders)('in %s, read and written again, have the same bytes', async (folder) => {
    const { label } = await beginningOfSet(folder);
    const variant = folder.includes('iraven') ? 'i-raven' : 'raven';
    const layout = layoutOfFolder(folder);
    let k = 0;
    for await (const found of readRavenFolder(folder)) {
      const { file, problem } = found;
      if (!problem) throw new Error(`${file} has no description`);
      const npz = encodeRavenNpz(problem, renderProblem(problem).images);
      expect(Buffer.compare(npz, readFileSync(file)), file).toBe(0);
      const text = readFileSync(file.replace(/npz$/, 'xml'), 'latin1');
      expect(formatRavenXml(problem) === text, `${file}: its XML`).toBe(true);
      expect([layoutOf(problem.configuration, problem.noisy), problem.variant]).toEqual([
        layout,
        variant,
      ]);
      // The parameters of rules, which files leave out, are found from the panels.
      expect(labelOfRaven(found)).toEqual(label[k]);
      k += 1;
    }
    expect(k).toBe(10);
  });

  test('a folder gives, at 64x64, the beginning of its set', async () => {
    for (const folder of folders) {
      const source = await openRavenFolder(folder);
      const [batch, expected] = [await source.read(0, source.count), await beginningOfSet(folder)];
      expect(Buffer.compare(batch.panel, expected.panel), folder).toBe(0);
      expect(Buffer.compare(batch.selection, expected.selection), folder).toBe(0);
      expect([batch.answer, batch.label]).toEqual([expected.answer, expected.label]);
    }
  });

  test('without its XML a problem still has images, answer and rule names', async () => {
    const folder = path.join(scratchFolder(), 'distribute_four');
    mkdirSync(folder);
    const original = path.join(referenceFiles, 'raven', 'distribute_four');
    copyFileSync(path.join(original, 'RAVEN_3_train.npz'), path.join(folder, 'RAVEN_3_train.npz'));
    const place = { index: 3, part: 'train' } as const;
    const bare = await readRavenProblem(folder, place);
    const full = await readRavenProblem(original, place);
    expect(bare.problem).toBeUndefined();
    expect(
      labelOfRaven(bare)
        .flat()
        .map(({ name, attribute }) => [name, attribute]),
    ).toEqual(full.problem?.rules.flat().map(({ name, attribute }) => [name, attribute]));
  });
});

describe('problem files', () => {
  test('a set is no file of one problem, and is told so', async () => {
    const set = encodeSet(problemToBatch(sample('center_single', 'raven', 1)));
    await expect(decodeRavenNpz(set, 'set.npz')).rejects.toThrow(
      /^set\.npz: a set of many problems instead of the file of one: crab evaluate --data takes it/,
    );
  });

  test('deflated, a problem has the same arrays in a tenth of the bytes', async () => {
    const problem = sample('distribute_nine', 'i-raven', 3);
    const { images } = renderProblem(problem);
    const [stored, deflated] = [false, true].map((compress) =>
      encodeRavenNpz(problem, images, { compress }),
    );
    expect(deflated.length).toBeLessThan(stored.length / 10);
    expect(await readNpz(deflated)).toEqual(await readNpz(stored));
    expect(await decodeRavenNpz(deflated)).toEqual(await decodeRavenNpz(stored));
  });

  test('reading what was written gives the same problem', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ALL_LAYOUTS.map(({ folder }) => folder)),
        fc.constantFrom(...PAPER_VARIANTS),
        fc.nat({ max: 1e6 }),
        async (layout, variant, index) => {
          const problem = sample(layout, variant, index);
          const { images } = renderProblem(problem);
          const arrays = await decodeRavenNpz(encodeRavenNpz(problem, images));
          expect(Buffer.compare(arrays.images, images)).toBe(0);
          expect(arrays.predict).toBe(problem.target);
          const again = parseRavenXml(formatRavenXml(problem), {
            target: arrays.target,
            noisy: problem.noisy,
          });
          expect({ ...again, candidates: undefined }).toEqual({
            ...problem,
            candidates: undefined,
          });
          expect(again.candidates.map(({ panel }) => panel)).toEqual(
            problem.candidates.map(({ panel }) => panel),
          );
          // RAVEN's XML does not name the changes: they are found by comparing.
          expect(again.candidates).toEqual(problem.candidates);
        },
      ),
      { numRuns: process.env.CRAB_TEST_LONG ? 2000 : 100, seed: 3 },
    );
  });

  test('folders are read in numeric order, past foreign files, by part', async () => {
    const root = scratchFolder();
    const problem = sample('center', 'i-raven');
    const folder = path.join(root, 'center_single');
    for (const index of [10, 9, 2, 107, 6]) await writeRavenProblem(root, index, problem);
    for (const name of [
      'README.txt',
      'RAVEN_x_train.npz',
      'RAVEN_1_train.npz.bak',
      '.RAVEN_1.part',
    ]) {
      writeFileSync(path.join(folder, name), 'not ours');
    }
    mkdirSync(path.join(folder, 'RAVEN_5_train.npz'));
    const indices = async (part?: 'train' | 'val' | 'test'): Promise<number[]> =>
      (await listRavenFolder(folder, part)).map(({ index }) => index);
    expect(await indices()).toEqual([2, 6, 9, 10, 107]);
    expect(await indices('val')).toEqual([6, 107]);
    expect(await configurationFolders(root)).toEqual([folder]);
    for await (const found of readRavenFolder(folder)) expect(found.problem).toEqual(problem);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual(['.RAVEN_1.part']);
  });

  test('errors name the file', async () => {
    const root = scratchFolder();
    await writeRavenProblem(root, 0, sample('center', 'raven'));
    const base = path.join(root, 'center_single', 'RAVEN_0_train');
    const read = () => readRavenProblem(path.dirname(base), { index: 0, part: 'train' });
    const xml = readFileSync(`${base}.xml`, 'utf8');
    writeFileSync(`${base}.xml`, xml.replace('Color="', 'Color="9'));
    await expect(read()).rejects.toThrow(FormatError);
    await expect(read()).rejects.toThrow(`${base}.xml: panel 1: Color="9`);
    writeFileSync(`${base}.npz`, 'PK');
    await expect(read()).rejects.toThrow(`${base}.npz`);
  });

  test('names and parts', () => {
    expect([0, 5, 6, 7, 8, 9, 10].map(partOf)).toEqual(
      'train train val val test test train'.split(' '),
    );
    expect(parseRavenFileName('RAVEN_12_val.xml')).toEqual({
      index: 12,
      part: 'val',
      ending: 'xml',
    });
    expect(parseRavenFileName('RAVEN_12_val.xml2')).toBeUndefined();
  });
});

describe('descriptions that are refused', () => {
  const problem = sample('grid-2x2', 'i-raven');
  const xml = formatRavenXml(problem);
  const laughs = `<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>`;

  test.each([
    ['a document type', laughs + xml, /document type/],
    ['an external entity', `<!DOCTYPE d SYSTEM "file:///etc/passwd">${xml}`, /document type/],
    ['an undefined entity', xml.replace('name="Singleton"', 'name="&b;"'), /well-formed/],
    ['an instruction', `<?php x ?>${xml}`, /processing instruction/],
    ['CDATA', xml.replace('<Panels>', '<Panels><![CDATA[x]]>'), /CDATA/],
    ['text', xml.replace('<Panels>', '<Panels>x'), /unexpected text/],
    ['depth', '<Data>'.repeat(5000), /nested deeper/],
    ['too many elements', `<Data>${'<a/>'.repeat(5000)}</Data>`, /more than/],
    ['length', `<Data a="${'x'.repeat(1 << 20)}"/>`, /too long/],
    ['an unclosed element', xml.slice(0, -1), /well-formed/],
    ['two roots', xml + xml, /well-formed|root/],
    ['a missing panel', xml.replace(/<Panel>.*?<\/Panel>/, ''), /15 of <Panel>/],
    ['another number', xml.replace(/Number="\d"/, 'Number="9"'), /not a level/],
    ['a level in words', xml.replace(/Color="\d"/, 'Color="red"'), /not a level/],
    ['a negative level', xml.replace(/Size="\d"/, 'Size="-1"'), /not a level/],
    ['a figure without a shape', xml.replace(/Type="\d"/, 'Type="0"'), /type/],
    ['a place that is none', xml.replace(/bbox="[^"]*"/, 'bbox="[0, 0, 1, 1]"'), /no slot/],
    ['an unreadable mask', xml.replace(/mask="[^"]*"/, 'mask="[1,2"'), /mask/],
    ['an unknown rule', xml.replace('name="Constant"', 'name="Chaos"'), /unknown/],
    ['an unknown structure', xml.replaceAll('Singleton', 'Doubleton'), /unknown structure/],
    ['a rotated figure in the noise-free form', xml.replace('Angle="3"', 'Angle="4"'), /angle/],
  ])('%s', (_, text, message) => {
    expect(() => parseRavenXml(text, { noisy: false })).toThrow(FormatError);
    expect(() => parseRavenXml(text, { noisy: false })).toThrow(message);
  });

  test('an answer that contradicts the description', () => {
    const target = (problem.target + 1) % 8;
    expect(() => parseRavenXml(xml, { target })).toThrow(/should be the answer/);
    expect(parseRavenXml(xml)).toEqual(problem);
    const raven = formatRavenXml(sample('grid-2x2', 'raven'));
    expect(() => parseRavenXml(raven)).toThrow(/which candidate is the answer/);
  });
});

describe.skipIf(!pythonWithNumpy)('Python', () => {
  test('numpy and ElementTree read ours', async () => {
    const root = scratchFolder();
    const problem = sample('out-in-grid', 'i-raven');
    await writeRavenProblem(root, 8, problem);
    const program = `
import glob, json, sys, numpy
import xml.etree.ElementTree as tree
base = glob.glob(sys.argv[1] + '/*/RAVEN_8_test.npz')[0]
arrays = numpy.load(base)
root = tree.parse(base[:-3] + 'xml').getroot()
types = {name: [arrays[name].dtype.str, list(arrays[name].shape)] for name in arrays.files}
print(json.dumps([list(arrays.files), types, int(arrays['target']),
  [name.decode() for name in arrays['structure']], int(arrays['image'].astype(int).sum()),
  [[int(entity.get('Color')) for entity in panel.iter('Entity')] for panel in root.iter('Panel')],
  [[rule.get('attr'), rule.get('name')] for rule in root.iter('Rule')]]))`;
    const { images } = renderProblem(problem);
    const panels = [...problem.context, ...problem.candidates.map(({ panel }) => panel)];
    expect(runPython(program, root)).toEqual([
      ['image', 'target', 'predict', 'meta_matrix', 'meta_target', 'structure', 'meta_structure'],
      {
        image: ['|u1', [16, 160, 160]],
        target: ['<i8', []],
        predict: ['<i8', []],
        meta_matrix: ['|u1', [8, 9]],
        meta_target: ['|u1', [9]],
        structure: ['|S18', [12]],
        meta_structure: ['|u1', [21]],
      },
      problem.target,
      'Scene Out_In Out Out_Center_Single / / In In_Distribute_Four / / / /'.split(' '),
      images.reduce((sum, pixel) => sum + pixel, 0),
      panels.map(({ components }) =>
        components.flatMap(({ entities }) => entities.map(({ color }) => color)),
      ),
      problem.rules.flat().map(({ attribute, name }) => [attribute, name]),
    ]);
  });
});
