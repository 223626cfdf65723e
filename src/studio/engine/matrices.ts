/** Matrices from their specs: what a model sees of them, what a person sees, and files to keep. */
import { ArgumentError } from '../../base/index.js';
import {
  ANSWER_COLUMNS,
  answerRow,
  arithmeticRows,
  brokenRules,
  contactSheet,
  csvLine,
  describePanel,
  editProblem,
  encodePng,
  encodeRavenNpz,
  findLayout,
  groupOf,
  layoutOfProblem,
  matrixPanels,
  parseConstraints,
  problemToSvg,
  renderPanel64,
  renderProblem,
  renderSvg,
  sampleProblem,
  ruleMeaning,
  SMALL_SIZE,
  type ConfigurationLayout,
  type Panel as PanelDescription,
  type Problem,
  type Rule,
  worksheetPdf,
} from '../../matrix/index.js';
import type { Panel } from '../../solver/index.js';
import { planOf } from './difficulty.js';
import { readEdits } from './panel-edits.js';
import { unpackPictures } from './pictures.js';
import { differenceWords, ruleWords, subjectKey, subjectsOf, subjectWords } from './words.js';
import type {
  CandidateView,
  ExportedFile,
  ExportFormat,
  MatrixSpec,
  MatrixView,
  PanelView,
  SampledSpec,
  TrueRule,
} from './protocol.js';

/** A matrix ready to be solved and shown. */
export interface Matrix {
  /** Nine; null where blank. */
  readonly panels: readonly (Panel | null)[];
  readonly candidates: readonly Panel[];
  readonly view: MatrixView;
  /** Its description; null for pictures. */
  readonly problem: Problem | null;
}

function sample(spec: SampledSpec): Problem {
  const layout = findLayout(spec.layout);
  const constraints =
    spec.constraints === ''
      ? planOf(layout, spec.difficulty, spec.seed, spec.index)
      : parseConstraints(parseJson(spec.constraints), layout);
  const { configuration, noisy } = layout;
  const { variant, seed, index } = spec;
  const problem = sampleProblem({ configuration, noisy, variant, seed, index, constraints });
  return spec.edits === '' ? problem : editProblem(problem, readEdits(spec.edits));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ArgumentError('the rules in this link are damaged');
  }
}

const svgUrl = (svg: string): string => `data:image/svg+xml,${encodeURIComponent(svg)}`;

function base64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Grey values as a picture for an `<img>`. */
export function pixelsUrl(panel: Panel): string {
  const data = Uint8Array.from(panel, (value) => Math.round(255 * value));
  const png = encodePng({ width: SMALL_SIZE, height: SMALL_SIZE, channels: 1, data });
  return `data:image/png;base64,${base64(png)}`;
}

const described = (layout: ConfigurationLayout, panel: PanelDescription): PanelView => ({
  src: svgUrl(renderSvg(layout, panel)),
  alt: describePanel(layout, panel),
});

/** Rules of everything that can change in a layout. */
function trueRules({ rules }: Problem, layout: ConfigurationLayout): TrueRule[] {
  return subjectsOf(layout).flatMap((subject) =>
    rules[subject.component]
      .filter(({ attribute }) => groupOf(attribute) === subject.group)
      .map((rule) => ({
        key: subjectKey(subject),
        subject: subjectWords(layout, subject),
        attribute: rule.attribute,
        rule: ruleWords(rule),
        meaning: ruleMeaning(rule),
      })),
  );
}

function ofProblem(problem: Problem): Matrix {
  const layout = layoutOfProblem(problem);
  const pixels = (panel: PanelDescription): Panel =>
    Float32Array.from(renderPanel64(layout, panel), (byte) => byte / 255);
  const nine = matrixPanels(problem);
  const candidates = problem.candidates.map(({ panel, changes }): CandidateView => ({
    ...described(layout, panel),
    difference: differenceWords(layout, changes),
  }));
  return {
    panels: nine.map(pixels),
    candidates: problem.candidates.map(({ panel }) => pixels(panel)),
    problem,
    view: {
      panels: nine.map((panel) => described(layout, panel)),
      candidates,
      target: problem.target,
      rules: trueRules(problem, layout),
      blank: [],
      described: nine,
      broken: brokenRules(problem).map(
        ({ component, rule }) => `${nameOf(layout, component, rule)}: ${ruleWords(rule)}`,
      ),
      levels: arithmeticRows(problem).map(
        ({ component, rule, rows }) => `${nameOf(layout, component, rule)}: ${rows.join(', ')}`,
      ),
    },
  };
}

/** What a rule is about: "Left size". */
const nameOf = (layout: ConfigurationLayout, component: number, { attribute }: Rule): string =>
  subjectWords(layout, { component, group: groupOf(attribute) });

async function ofPictures(packed: string): Promise<Matrix> {
  const { panels, candidates, target } = await unpackPictures(packed);
  return {
    panels,
    candidates,
    problem: null,
    view: {
      panels: panels.map((panel, i) =>
        panel === null ? null : { src: pixelsUrl(panel), alt: `your panel ${i + 1}` },
      ),
      candidates: candidates.map((panel, i) => ({
        src: pixelsUrl(panel),
        alt: `your candidate ${i + 1}`,
        difference: null,
      })),
      target,
      rules: [],
      blank: panels.flatMap((panel, i) => (panel === null ? [i + 1] : [])),
      described: null,
      broken: [],
      levels: [],
    },
  };
}

export async function makeMatrix(spec: MatrixSpec): Promise<Matrix> {
  return spec.kind === 'pictures' ? ofPictures(spec.packed) : ofProblem(sample(spec));
}

/** A matrix as a file; pictures without a description cannot become all of them. */
export function exportMatrix(
  { problem }: Matrix,
  spec: MatrixSpec,
  format: ExportFormat,
): ExportedFile {
  if (problem === null || spec.kind === 'pictures') {
    throw new ArgumentError('only a matrix made here has the description that a file needs');
  }
  const name = `raven-${spec.layout}-${spec.seed}.${format}`;
  switch (format) {
    case 'png': {
      const sheet = contactSheet(problem, { markAnswer: false, scale: 2 });
      return { name, type: 'image/png', bytes: encodePng(sheet) };
    }
    case 'svg': {
      const bytes = new TextEncoder().encode(problemToSvg(problem, { markAnswer: false }));
      return { name, type: 'image/svg+xml', bytes };
    }
    case 'npz': {
      const bytes = encodeRavenNpz(problem, renderProblem(problem).images);
      return { name, type: 'application/octet-stream', bytes };
    }
  }
}

/** Matrices to print, from one on: a page for each, and their key. */
export function makeWorksheet(spec: SampledSpec, count: number): ExportedFile {
  const items = Array.from({ length: count }, (_, i) => {
    // What was changed by hand belongs to the first alone.
    const problem = sample({ ...spec, index: spec.index + i, edits: i === 0 ? spec.edits : '' });
    return { title: `Item ${i + 1}`, problem };
  });
  const name = `worksheet-${spec.layout}-${spec.seed}.pdf`;
  return { name, type: 'application/pdf', bytes: worksheetPdf(items) };
}

/** Answers, rules and what wrong candidates change, a line for each matrix. */
export function makeAnswerKey(specs: readonly SampledSpec[]): ExportedFile {
  const rows = specs.map((spec) => answerRow(sample(spec), spec.seed, spec.index));
  const text = [[...ANSWER_COLUMNS], ...rows].map((row) => `${csvLine(row)}\r\n`).join('');
  return { name: 'key.csv', type: 'text/csv', bytes: new TextEncoder().encode(text) };
}
