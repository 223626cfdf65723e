/**
 * Does the imagined panel itself obey the rules? The paper judges generated answers by the candidate
 * they are nearest to; here the generated picture is read back as attributes (`PanelReader`) and
 * checked: against the problem's rules, against what the symbolic solver infers from the eight context
 * panels without being told the rules, and attribute by attribute against the answer. An unreadable
 * picture obeys nothing. The same for true answers drawn from their own concepts tells how much of a
 * failure is the decoder's. Rotation has no rule and is not judged.
 */
import {
  answerOf,
  downscale,
  greyByte,
  IMAGE_PIXELS,
  IMAGE_SIZE,
  layoutOf,
  matrixPanels,
  PanelReader,
  Random,
  rulesHold,
  SMALL_PIXELS,
  SMALL_SIZE,
  solveSymbolically,
  type ComponentPanel,
  type ConfigurationLayout,
  type ImageSide,
  type Panel,
  type Problem,
  type ReadPanel,
} from '../../matrix/index.js';
import { bytesToPanel, type Panel as Picture } from '../../solver/index.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import type { AttributeColumn, ReadbackResult } from '../evaluation.js';
import { Bootstrap } from '../statistics.js';
import { withConcepts } from '../concept-subject.js';
import type { ImagineOptions, MetricOptions, Painter } from '../subject.js';
import { drawMissing, LAST } from '../missing-sets.js';
import { attributeColumns, LEVEL_KEYS } from './attributes.js';
import { seenProblems, SLICE } from './generated-source.js';

export interface ReadbackOptions extends MetricOptions {
  readonly problems?: number;
}

const DEFAULT_SEED = 7_700_000_021;
/** Pictures that are drawn alike give several readings of a matrix; more are not tried. */
const MOST_READINGS = 64;
/** Matrices with two and more panels missing are measured on fewer problems: they are all painted. */
const FEWER = 10;

/** Entities in the order of the answer's, which tells the solver which one moved where. */
function ordered(read: ComponentPanel, answer: ComponentPanel): ComponentPanel {
  const place = (slot: number): number => {
    const found = answer.entities.findIndex((entity) => entity.slot === slot);
    return found < 0 ? answer.entities.length : found;
  };
  const entities = [...read.entities].sort((a, b) => place(a.slot) - place(b.slot));
  return { uniformity: answer.uniformity, entities };
}

/** Every panel that a reading may mean; none if it is unreadable. */
export function possiblePanels(read: ReadPanel, answer: Panel): Panel[] {
  if (!read.readable) return [];
  return read.components.reduce<Panel[]>(
    (panels, { descriptions }, component) =>
      panels.flatMap((panel) =>
        descriptions.map((description) => ({
          components: [...panel.components, ordered(description, answer.components[component])],
        })),
      ),
    [{ components: [] }],
  );
}

/** What a judge says of one picture. */
interface Verdict {
  readonly obeys: boolean;
  readonly agrees: boolean;
  readonly readable: boolean;
  /** For each attribute, whether it is the answer's. */
  readonly attributes: readonly boolean[];
}

const slotsOf = ({ entities }: ComponentPanel): string =>
  entities
    .map(({ slot }) => slot)
    .sort((a, b) => a - b)
    .join(' ');

/** Whether an attribute of a panel is that of another. */
function sameAttribute({ component, group }: AttributeColumn, a: Panel, b: Panel): boolean {
  const [own, other] = [a.components[component], b.components[component]];
  if (group === 'Num/Pos') return slotsOf(own) === slotsOf(other);
  if (group === 'Rotation') return true;
  const levels = ({ entities }: ComponentPanel): string =>
    [...new Set(entities.map((entity) => entity[LEVEL_KEYS[group]]))].sort().join(' ');
  return levels(own) === levels(other);
}

export class ReadbackJudge {
  readonly #layout: ConfigurationLayout;
  readonly #reader: PanelReader;
  readonly attributes: readonly AttributeColumn[];

  constructor(layout: ConfigurationLayout) {
    this.#layout = layout;
    this.#reader = new PanelReader(layout);
    this.attributes = attributeColumns(layout);
  }

  /** Whether a matrix with imagined panels at some positions (1..9) obeys its problem's rules. */
  obeys(problem: Problem, missing: readonly number[], pictures: readonly Picture[]): boolean {
    const whole = [...matrixPanels(problem)];
    const readings = missing.map((position, i) =>
      possiblePanels(this.#reader.read(pictures[i]), whole[position - 1]),
    );
    const completed = readings.reduce<Panel[][]>(
      (matrices, panels, i) =>
        matrices
          .flatMap((matrix) =>
            panels.map((panel) => matrix.map((old, at) => (at === missing[i] - 1 ? panel : old))),
          )
          .slice(0, MOST_READINGS),
      [whole],
    );
    return completed.some((panels) => rulesHold(this.#layout, problem.rules, panels));
  }

  judge(problem: Problem, picture: Picture): Verdict {
    const answer = answerOf(problem);
    const panels = possiblePanels(this.#reader.read(picture), answer);
    const obeys = panels.some((panel) =>
      rulesHold(this.#layout, problem.rules, [...problem.context, panel]),
    );
    const candidates = panels.map((panel) => ({ panel, changes: [] }));
    const inferred = solveSymbolically({ ...problem, candidates });
    return {
      obeys,
      agrees: inferred.candidates.length > 0,
      readable: panels.length > 0,
      attributes: this.attributes.map((attribute) =>
        panels.some((panel) => sameAttribute(attribute, panel, answer)),
      ),
    };
  }
}

/** A drawn panel at 64x64, as it is read: pictures of 80x80 are doubled first. */
function atSmallSize(picture: Picture, side: ImageSide): Picture {
  if (side === SMALL_SIZE) return picture;
  const factor = IMAGE_SIZE / side;
  const large = Uint8Array.from({ length: IMAGE_PIXELS }, (_, pixel) => {
    const row = Math.floor(Math.floor(pixel / IMAGE_SIZE) / factor);
    const column = Math.floor((pixel % IMAGE_SIZE) / factor);
    return greyByte(picture[row * side + column]);
  });
  const small = new Uint8Array(SMALL_PIXELS);
  downscale(large, small);
  return bytesToPanel(small);
}

/** Panels missing at random positions, for as many targets as there are up to eight. */
async function readAnywhere(
  subject: Painter,
  judge: ReadbackJudge,
  count: number,
  seed: number,
  paints: readonly ImagineOptions['paint'][],
  { signal, onProgress }: Pick<MetricOptions, 'signal' | 'onProgress'>,
): Promise<ReadbackResult['missing']> {
  const side = subject.facts.imageSize;
  const found = [];
  for (let targets = 1; targets < LAST; targets++) {
    const some = targets === 1 ? count : Math.ceil(count / FEWER);
    // Second thoughts are for one missing panel.
    const used = targets === 1 ? paints : paints.filter((paint) => paint !== 'careful');
    const obeyed = used.map((): number[] => []);
    for await (const { from, problems, matrices } of seenProblems(subject, some, seed, signal)) {
      const asked = matrices.map((panels, n) => {
        const missing = drawMissing(new Random(seed, from + n, targets), targets);
        return { panels, missing };
      });
      for (const [p, paint] of used.entries()) {
        const drawn = await subject.imagine(asked, { signal, paint });
        problems.forEach((problem, n) => {
          const pictures = drawn[n].map((picture) => atSmallSize(picture, side));
          obeyed[p].push(Number(judge.obeys(problem, asked[n].missing, pictures)));
        });
      }
    }
    const bootstrap = new Bootstrap(some);
    const shareOf = (paint: ImagineOptions['paint']) => {
      const at = used.indexOf(paint);
      return at < 0 ? undefined : bootstrap.share(obeyed[at]);
    };
    const [meanObeys, carefulObeys] = [shareOf('mean'), shareOf('careful')];
    found.push({
      targets,
      problems: some,
      obeys: bootstrap.share(obeyed[0]),
      ...(meanObeys === undefined ? {} : { meanObeys }),
      ...(carefulObeys === undefined ? {} : { carefulObeys }),
    });
    onProgress?.(targets / (LAST - 1));
  }
  return found;
}

/** Reads imagined panels back, on fresh problems whose descriptions are known. */
export async function readback(
  subject: Painter,
  options: ReadbackOptions = {},
): Promise<ReadbackResult> {
  const { problems: count = DEFAULT_COUNTS.pictures, seed = DEFAULT_SEED } = options;
  const { signal, onProgress } = options;
  const { configuration, noisy, imageSize: side, positions } = subject.facts;
  const judge = new ReadbackJudge(layoutOf(configuration, noisy));
  const hasWords = (withConcepts(subject)?.solver.vocabulary ?? null) !== null;
  const imagined: Verdict[] = [];
  const means: Verdict[] = [];
  const careful: Verdict[] = [];
  const reconstructed: Verdict[] = [];
  for await (const { from, problems, matrices } of seenProblems(subject, count, seed, signal)) {
    const asked = matrices.map((each) => ({ panels: each, missing: [LAST] }));
    const judged = (drawn: readonly Picture[]): Verdict[] =>
      drawn.map((picture, n) => judge.judge(problems[n], atSmallSize(picture, side)));
    imagined.push(...judged((await subject.imagine(asked, { signal })).flat()));
    if (hasWords) {
      means.push(...judged((await subject.imagine(asked, { signal, paint: 'mean' })).flat()));
      careful.push(...judged((await subject.imagine(asked, { signal, paint: 'careful' })).flat()));
    }
    const answers = matrices.map((each) => each[LAST - 1]);
    reconstructed.push(...judged((await subject.redraw?.(answers, signal)) ?? []));
    onProgress?.(0.5 * Math.min(1, (from + SLICE) / count));
  }
  const paints = hasWords ? (['likeliest', 'mean', 'careful'] as const) : ([undefined] as const);
  const missing =
    positions === 'any'
      ? await readAnywhere(subject, judge, count, seed, paints, {
          signal,
          onProgress: (share) => onProgress?.(0.5 + share / 2),
        })
      : undefined;
  const bootstrap = new Bootstrap(count);
  const share = (verdicts: readonly Verdict[], holds: (verdict: Verdict) => boolean) =>
    bootstrap.share(verdicts.map((verdict) => Number(holds(verdict))));
  const readable = imagined.filter((verdict) => verdict.readable);
  const rightOf = (v: number): number =>
    readable.filter(({ attributes }) => attributes[v]).length / Math.max(1, readable.length);
  return {
    problems: count,
    seed,
    obeys: share(imagined, ({ obeys }) => obeys),
    agrees: share(imagined, ({ agrees }) => agrees),
    unreadable: share(imagined, (verdict) => !verdict.readable),
    ...(hasWords
      ? {
          meanObeys: share(means, ({ obeys }) => obeys),
          carefulObeys: share(careful, ({ obeys }) => obeys),
        }
      : {}),
    ...(missing === undefined ? {} : { missing }),
    ...(reconstructed.length === 0
      ? {}
      : {
          reconstructedObeys: share(reconstructed, ({ obeys }) => obeys),
          reconstructedUnreadable: share(reconstructed, (verdict) => !verdict.readable),
        }),
    byAttribute: judge.attributes.map((attribute, v) => ({ attribute, share: rightOf(v) })),
  };
}
