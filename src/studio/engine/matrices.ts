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
  greySquare,
  groupOf,
  layoutOfProblem,
  matrixPanels,
  panelSvgGroup,
  parseConstraints,
  problemToSvg,
  renderPanel64,
  renderProblem,
  ruleMeaning,
  sampleProblem,
  worksheetPdf,
  type ConfigurationLayout,
  type Panel as PanelDescription,
  type Problem,
  type Rule,
} from '../../matrix/index.js';
import type { Panel } from '../../solver/index.js';
import { planOf } from './difficulty.js';
import { readEdits } from './panel-edits.js';
import { unpackPictures } from './pictures.js';
import { nameOf, soundnessOf } from './soundness.js';
import {
  differenceWords,
  inList,
  inPageWords,
  LEVELS,
  named,
  ruleWords,
  subjectKey,
  subjectsOf,
  subjectWords,
  titleOfLayout,
  valueWords,
} from './words.js';
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

function base64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Grey values as a picture for an `<img>`. */
function pixelsUrl(panel: Panel): string {
  const data = Uint8Array.from(panel, (value) => Math.round(255 * value));
  const png = encodePng(greySquare(data));
  return `data:image/png;base64,${base64(png)}`;
}

const described = (layout: ConfigurationLayout, panel: PanelDescription): PanelView => ({
  picture: { shapes: panelSvgGroup(layout, panel) },
  alt: describePanel(inPageWords(layout), panel, valueWords),
});

/** A rule of a component, with what it is called. */
function trueRule(layout: ConfigurationLayout, component: number, rule: Rule): TrueRule {
  const subject = { component, group: groupOf(rule.attribute) };
  return {
    key: subjectKey(subject),
    subject: subjectWords(layout, subject),
    attribute: rule.attribute,
    rule: ruleWords(rule),
    meaning: ruleMeaning(rule),
  };
}

/** Rules of everything that can change in a layout. */
function trueRules({ rules }: Problem, layout: ConfigurationLayout): TrueRule[] {
  return subjectsOf(layout).flatMap(({ component, group }) =>
    rules[component]
      .filter(({ attribute }) => groupOf(attribute) === group)
      .map((rule) => trueRule(layout, component, rule)),
  );
}

/** The rules that each candidate breaks in the last place; those that all break are no fault of any. */
function rulesBrokenBy(problem: Problem, layout: ConfigurationLayout): TrueRule[][] {
  const broken = problem.candidates.map((_, target) => brokenRules({ ...problem, target }));
  // Panels changed by hand may break a rule whatever comes last.
  const isOwn = (rule: Rule): boolean =>
    broken.some((ofOne) => ofOne.every((each) => each.rule !== rule));
  return broken.map((ofOne) =>
    ofOne
      .filter(({ rule }) => isOwn(rule))
      // Number and Position share one rule: it is said which of them it is about.
      .map(({ component, rule }) => ({
        ...trueRule(layout, component, rule),
        subject: named(layout, component, rule.attribute),
      })),
  );
}

/** Whether a rule on Number leaves it open where the figures of a panel are; a full panel has one place for each. */
const leavesPlacesOpen = (
  { rules }: Problem,
  { components }: PanelDescription,
  { components: all }: ConfigurationLayout,
): boolean =>
  components.some(
    ({ entities }, c) =>
      entities.length < all[c].slots.length &&
      rules[c].some(({ attribute }) => attribute === 'Number'),
  );

/** Rows of arithmetic on levels, without those of broken rules: "Size: 2 + 3 = 5, ...". */
function levelsOf(problem: Problem, broken: readonly string[]): string[] {
  const layout = layoutOfProblem(problem);
  return arithmeticRows(problem)
    .filter(
      ({ component, rule: { attribute } }) =>
        !broken.includes(subjectKey({ component, group: groupOf(attribute) })),
    )
    .map(({ component, rule, rows }) => `${nameOf(layout, component, rule)}: ${rows.join(', ')}`);
}

function ofProblem(problem: Problem): Matrix {
  const layout = layoutOfProblem(problem);
  const pixels = (panel: PanelDescription): Panel =>
    Float32Array.from(renderPanel64(layout, panel), (byte) => byte / 255);
  const nine = matrixPanels(problem);
  const soundness = soundnessOf(problem);
  const { answer, fault } = soundness;
  // What is wrong with a candidate is told from the ninth panel, which hand changes may have made a wrong answer.
  const isTold = answer === problem.target;
  const breaks = rulesBrokenBy(problem, layout);
  const candidates = problem.candidates.map(({ panel, changes }, i): CandidateView => ({
    ...described(layout, panel),
    difference: isTold ? differenceWords(layout, changes) : null,
    breaks: isTold || answer === null ? breaks[i] : [],
  }));
  return {
    panels: nine.map(pixels),
    candidates: problem.candidates.map(({ panel }) => pixels(panel)),
    problem,
    view: {
      panels: nine.map((panel) => described(layout, panel)),
      candidates,
      target: answer,
      right: soundness.right,
      rules: trueRules(problem, layout),
      blank: [],
      described: nine,
      broken: soundness.broken,
      fault,
      levels: levelsOf(problem, soundness.broken),
      isOpen: fault === null && leavesPlacesOpen(problem, nine[nine.length - 1], layout),
    },
  };
}

async function ofPictures(packed: string): Promise<Matrix> {
  const { panels, candidates, target } = await unpackPictures(packed);
  return {
    panels,
    candidates,
    problem: null,
    view: {
      panels: panels.map((panel, i) =>
        panel === null ? null : { picture: { src: pixelsUrl(panel) }, alt: `your panel ${i + 1}` },
      ),
      candidates: candidates.map((panel, i) => ({
        picture: { src: pixelsUrl(panel) },
        alt: `your candidate ${i + 1}`,
        difference: null,
        breaks: [],
      })),
      target,
      right: target === null ? [] : [target],
      rules: [],
      blank: panels.flatMap((panel, i) => (panel === null ? [i + 1] : [])),
      described: null,
      broken: [],
      fault: null,
      levels: [],
      isOpen: false,
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
      const sheet = contactSheet(problem, { markAnswer: false, scale: 2, rules: [] });
      return { name, type: 'image/png', bytes: encodePng(sheet) };
    }
    case 'svg': {
      const bytes = new TextEncoder().encode(problemToSvg(problem));
      return { name, type: 'image/svg+xml', bytes };
    }
    case 'npz': {
      if (soundnessOf(problem).answer === null)
        throw new ArgumentError('a RAVEN file names the right answer; this item has none');
      const bytes = encodeRavenNpz(problem, renderProblem(problem).images);
      return { name, type: 'application/octet-stream', bytes };
    }
  }
}

/** Rules of an item in the page's words: "Shape: progression +1, 1 shape on in each column". */
const rulesInWords = (problem: Problem, broken: readonly string[]): string[] =>
  trueRules(problem, layoutOfProblem(problem)).map(
    ({ key, subject, rule, meaning }) =>
      `${subject}: ${rule}, ${broken.includes(key) ? 'broken' : meaning}`,
  );

/** Tells the maker of a worksheet which of its items have no one right answer. */
const noticeOf = (unsound: readonly string[]): string | undefined =>
  unsound.length === 0
    ? undefined
    : `${unsound.length === 1 ? 'Item' : 'Items'} ${inList(unsound)} of the worksheet ${unsound.length === 1 ? 'has' : 'have'} no one right answer: the key at its end says why, the pupils' pages do not.`;

/** Matrices to print, from one on: four a page, and their key. */
export function makeWorksheet(spec: SampledSpec, count: number): ExportedFile {
  const items = Array.from({ length: count }, (_, i) => {
    // What was changed by hand belongs to the first alone.
    const problem = sample({ ...spec, index: spec.index + i, edits: i === 0 ? spec.edits : '' });
    const { answer, broken, fault } = soundnessOf(problem);
    const levels = levelsOf(problem, broken);
    const key = [
      ...(fault === null ? [] : [fault]),
      rulesInWords(problem, broken).join('; '),
      ...levels.map((row) => `In levels, ${row}`),
    ];
    const isSound = fault === null || (broken.length > 0 && answer !== null);
    return { problem, answer, isSound, key, hasLevels: levels.length > 0 };
  });
  const unsound = items.flatMap(({ isSound }, i) => (isSound ? [] : [String(i + 1)]));
  const about = `${titleOfLayout(spec.layout)}, number ${spec.seed}`;
  const name = `worksheet-${spec.layout}-${spec.seed}.pdf`;
  return {
    name,
    type: 'application/pdf',
    bytes: worksheetPdf(items, about, items.some(({ hasLevels }) => hasLevels) ? LEVELS : ''),
    notice: noticeOf(unsound),
  };
}

/** Answers, rules and what wrong candidates change, a line for each matrix. */
export function makeAnswerKey(specs: readonly SampledSpec[]): ExportedFile {
  const rows = specs.map((spec) => answerRow(sample(spec), spec.seed, spec.index));
  const text = [[...ANSWER_COLUMNS], ...rows].map((row) => `${csvLine(row)}\r\n`).join('');
  return { name: 'key.csv', type: 'text/csv', bytes: new TextEncoder().encode(text) };
}
