/**
 * How often a picture of a problem comes back from reading as something else than was drawn.
 *
 *     npx tsx bench/redrawn.ts [--count 100] [--seed 20261118] [--config all] [--kinds raven,i-raven,noisy]
 *         [--as sheet,sheet-2,smaller,larger,completed,jpeg,svg,scan,inverted,coloured] [--json FILE] [--verbose]
 *
 * A panel drawn anew is told by what it shows: places, shapes, sizes and colours, not how figures are turned.
 * A panel left as it is must look like what was drawn. `sheet` to `completed` are in the data sets' own style.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { decode, encode } from 'jpeg-js';
import {
  CONFIGURATIONS,
  contactSheet,
  decodePng,
  encodePng,
  hasGrid,
  layoutOf,
  PanelReader,
  panelsOf,
  problemPanels,
  problemToSvg,
  sampleProblem,
  type Configuration,
  type ConfigurationLayout,
  type GreyImage,
  type Panel as Drawn,
  type Problem,
} from '../src/matrix/index.js';
import { decodeSvg } from '../src/matrix/node.js';
import { redrawingError } from '../src/solver/familiarity.js';
import { bytesToPanel, resized, type Panel } from '../src/solver/panels.js';
import { completedPicture, readMatrixPicture, recognise } from '../src/solver/node.js';
import { turned } from '../src/solver/straighten.js';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '20261118' },
    as: {
      type: 'string',
      default: 'sheet,sheet-2,smaller,larger,completed,jpeg,svg,scan,inverted,coloured',
    },
    kinds: { type: 'string', default: 'raven,i-raven,noisy' },
    config: { type: 'string', default: 'all' },
    json: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const [count, seed] = [Number(values.count), Number(values.seed)];
const wanted = CONFIGURATIONS.filter(
  (name) => values.config === 'all' || values.config.split(',').includes(name),
);
/** A panel left as it is looks like what was drawn if it is nearer than this, in mean squared difference. */
const LOOKS_ALIKE = 0.01;

const sheetOf = (problem: Problem, scale = 1): GreyImage =>
  decodePng(encodePng(contactSheet(problem, { markAnswer: false, scale })));

const map = (image: GreyImage, change: (value: number) => number): GreyImage => ({
  ...image,
  data: image.data.map(change),
});

/** A square picture around another at a scale. */
function scaled(image: GreyImage, scale: number): GreyImage {
  const side = Math.max(image.width, image.height);
  return resized(image, Math.round(side * scale));
}

function jpeg(image: GreyImage): GreyImage {
  const { width, height } = image;
  const data = new Uint8Array(4 * width * height);
  image.data.forEach((value, i) => {
    const grey = Math.round(255 * value);
    data.set([grey, grey, grey, 255], 4 * i);
  });
  const bytes = decode(encode({ width, height, data }, 85).data, { useTArray: true }).data;
  return { width, height, data: image.data.map((_, i) => bytes[4 * i] / 255) };
}

/** Values in [0, 1) from a seed. */
function uniform(from: number): () => number {
  let state = from;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const FORMS: Readonly<Record<string, (problem: Problem, i: number) => Promise<GreyImage>>> = {
  sheet: (problem) => Promise.resolve(sheetOf(problem)),
  'sheet-2': (problem) => Promise.resolve(sheetOf(problem, 2)),
  smaller: (problem) => Promise.resolve(scaled(sheetOf(problem), 0.8)),
  larger: (problem) => Promise.resolve(scaled(sheetOf(problem), 1.3)),
  completed: (problem) => {
    const { panels, candidates, answer } = panelsOf(problem);
    const all = panels.map((panel) => bytesToPanel(panel ?? candidates[answer]));
    return Promise.resolve(decodePng(encodePng(completedPicture(all, { framed: [9], scale: 3 }))));
  },
  jpeg: (problem) => Promise.resolve(jpeg(sheetOf(problem))),
  svg: (problem) =>
    decodeSvg(new TextEncoder().encode(problemToSvg(problem, { markAnswer: false }))),
  scan: (problem, i) => {
    const random = uniform(i + 9);
    const degrees = [-3, 1.3, 3, -0.7][i % 4];
    const scan = turned(sheetOf(problem, 2), degrees, 1);
    return Promise.resolve(
      map(scan, (value) => Math.min(1, 0.04 + 0.92 * value + 0.03 * random())),
    );
  },
  inverted: (problem) => Promise.resolve(map(sheetOf(problem), (value) => 1 - value)),
  coloured: (problem) => Promise.resolve(map(sheetOf(problem), (value) => 0.15 + 0.7 * value)),
};

const KINDS: Readonly<Record<string, (configuration: Configuration, index: number) => Problem>> = {
  raven: (configuration, index) => sampleProblem({ configuration, variant: 'raven', seed, index }),
  'i-raven': (configuration, index) =>
    sampleProblem({ configuration, variant: 'i-raven', seed: seed + 1, index }),
  noisy: (configuration, index) =>
    sampleProblem({ configuration, noisy: true, seed: seed + 2, index }),
};

const readers = new Map<ConfigurationLayout, PanelReader>();

/** Whether a panel that was drawn anew shows what a description says, however its figures are turned. */
function means(picture: Panel, layout: ConfigurationLayout, drawn: Drawn): boolean {
  const noisy = layoutOf(layout.configuration, hasGrid(layout.configuration));
  const reader = readers.get(noisy) ?? new PanelReader(noisy);
  readers.set(noisy, reader);
  const bytes = Uint8Array.from(picture, (value) => Math.round(255 * value));
  const seen = reader.readExactly(bytes);
  if (seen === null) return false;
  return seen.every((entities, c) => {
    const told = [...drawn.components[c].entities].sort((a, b) => a.slot - b.slot);
    return (
      told.length === entities.length &&
      told.every((each, i) => {
        const { slot, type, color, sizes } = entities[i];
        return (
          each.slot === slot &&
          each.type === type &&
          each.color === color &&
          sizes.includes(each.size)
        );
      })
    );
  });
}

const rows = [];
for (const form of values.as.split(',')) {
  for (const kind of values.kinds.split(',')) {
    for (const configuration of wanted) {
      if (kind === 'noisy' && !hasGrid(configuration)) continue;
      const row = {
        form,
        kind,
        configuration,
        count,
        other: 0,
        redrawn: 0,
        panels: 0,
        candidates: 0,
        unlike: 0,
        problems: 0,
        ms: 0,
      };
      for (let index = 0; index < count; index++) {
        const problem = KINDS[kind](configuration, index);
        const picture = await FORMS[form](problem, index);
        const read = readMatrixPicture(picture);
        const start = process.cpuUsage();
        const found = recognise(read);
        const { user, system } = process.cpuUsage(start);
        row.ms += (user + system) / 1000 / count;
        if (found?.layout.configuration !== configuration) {
          row.other++;
          continue;
        }
        const drawn = problemPanels(problem);
        const truth = panelsOf(problem);
        const wrong = (got: Panel, given: Panel, i: number): boolean => {
          if (got !== given) return !means(got, found.layout, drawn[i]);
          const image = i < 8 ? truth.panels[i] : truth.candidates[i - 8];
          return image === null || redrawingError(got, bytesToPanel(image)) > LOOKS_ALIKE;
        };
        row.redrawn += found.redrawn;
        let [panels, candidates] = [0, 0];
        found.panels.slice(0, 8).forEach((panel, i) => {
          const given = read.panels[i];
          if (panel === null || given === null || wrong(panel, given, i)) panels++;
        });
        found.candidates.forEach((panel, i) => {
          if (wrong(panel, read.candidates[i], 8 + i)) {
            candidates++;
            if (values.verbose)
              console.log(form, kind, configuration, index, i, JSON.stringify(drawn[8 + i]));
          }
        });
        row.panels += panels;
        row.candidates += candidates;
        row.problems += Number(panels + candidates > 0);
      }
      rows.push(row);
      console.log(
        `| ${form} | ${kind} | ${configuration} | ${count} | ${row.other} | ${row.redrawn} | ${row.panels} | ${row.candidates} | ${row.problems} | ${row.ms.toFixed(0)} ms |`,
      );
    }
  }
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ seed, rows }));
