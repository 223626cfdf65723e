/** A loaded model with what the page wants to know of it beyond solving: words, ranges, planes. */
import { layoutName, layoutOf, ruleMeaning } from '../../matrix/index.js';
import {
  bundleBytes,
  Familiarity,
  MissingBundleError,
  panelCertainty,
  PANEL_PIXELS,
  RuleClassifier,
  Solver,
  type Answer,
  type HistoryCurve,
  type Panel,
  type VocabularyGroup,
} from '../../solver/index.js';
import { symbolsOf } from './film.js';
import type {
  FitView,
  LoadProgress,
  ModelInfo,
  NamedView,
  PlaneFrame,
  PlaneView,
  RecordedPanels,
  RuleView,
  SurenessView,
} from './protocol.js';
import { inPlainWords } from './load-faults.js';
import { accuracyOf } from './measured.js';
import { clusterLabels } from './plane-labels.js';
import { readableCurves } from './readable-curves.js';
import { readConceptRules, type ConceptRules } from './rule-words.js';
import { named, ruleWords, subjectKey, subjectWords, wordsForConcepts } from './words.js';

/** Wasm shares memory between threads only on pages kept apart from other origins. */
const THREADS = globalThis.crossOriginIsolated ? Math.min(4, navigator.hardwareConcurrency) : 1;
const PLANE_SIDE = 72;
/** Weight from which on a component of the prior counts for what the plane shows. */
const LEAST_WEIGHT = 0.05;
/** Free space around the points of a plane, as a share of their span. */
const PLANE_MARGIN = 0.12;

interface LoadRequest {
  readonly name: string;
  readonly backend: 'auto' | 'wasm' | 'webgpu';
  /** Address of the folder of bundles. */
  readonly zoo: URL;
  readonly onProgress: (progress: LoadProgress) => void;
  /** Ends the load, whatever it is at. */
  readonly signal: AbortSignal;
}

/** Solves a matrix once, so that a backend that does not work shows it, and the first answer is quick. */
async function warmUp(solver: Solver, signal: AbortSignal): Promise<void> {
  const paper = new Float32Array(PANEL_PIXELS).fill(1);
  try {
    await solver.solve(
      Array.from({ length: 8 }, () => paper),
      { signal },
    );
    signal.throwIfAborted();
  } catch (error) {
    await solver.dispose();
    throw error;
  }
}

export class Model {
  readonly info: ModelInfo;
  readonly #rules: readonly ConceptRules[] | null;
  readonly #familiarity: Familiarity;

  private constructor(
    readonly name: string,
    readonly solver: Solver,
    accuracy: ModelInfo['accuracy'],
  ) {
    this.#familiarity = new Familiarity(solver);
    const { manifest, ruleMap, backend } = solver;
    const { sizes, conceptNames, training } = manifest;
    const words = wordsForConcepts(
      layoutOf(manifest.configuration, manifest.noisy),
      conceptNames.map((known) => known?.name ?? null),
    );
    const own = words.map(({ subject }) => subject);
    const moments = ruleMap?.snapshots.map(({ step }) => step) ?? [];
    const history = solver.history.map((curve) => until(curve, moments.at(-1)));
    this.#rules = ruleMap === null ? null : readConceptRules(ruleMap, own);
    this.info = {
      name,
      layout: layoutName(manifest),
      backend,
      threads: THREADS,
      concepts: words.map(({ title }) => title),
      aboutConcepts: words.map(({ about }) => about),
      liveliest: liveliest(this.#rules),
      unused: conceptNames.flatMap((known, m) => (known?.name === 'unused' ? [m + 1] : [])),
      groups: groupsOf(solver),
      ruleSize: sizes.ruleSize,
      accuracy,
      bytes: bundleBytes(manifest),
      training,
      history: [...history, ...readableCurves(history, training.config)],
      moments,
      hasPanels: solver.imagined !== null,
      points: ruleMap?.truth.length ?? 0,
    };
  }

  static async load(request: LoadRequest): Promise<Model> {
    const { name, backend, zoo, onProgress, signal } = request;
    const loadOn = async (wanted: LoadRequest['backend']): Promise<Model> => {
      const solver = await Solver.load(name, {
        zoo: zoo.href,
        backend: wanted,
        threads: THREADS,
        onProgress: (progress) => onProgress({ name, ...progress }),
        signal,
      });
      await warmUp(solver, signal);
      return new Model(name, solver, await accuracyOf(solver.manifest));
    };
    // A browser may offer WebGPU that then fails; wasm runs everywhere. A damaged bundle fails again.
    const attempts =
      backend === 'auto' && 'gpu' in navigator ? [backend, 'wasm' as const] : [backend];
    let failure: unknown;
    for (const attempt of attempts) {
      try {
        return await loadOn(attempt);
      } catch (error) {
        signal.throwIfAborted();
        failure = error;
        if (error instanceof MissingBundleError) break;
      }
    }
    throw inPlainWords(failure, name, zoo);
  }

  ruleViews(answer: Answer): RuleView[] {
    return answer.rules.map((rule) => ({
      concept: rule.concept,
      vector: rule.vector,
      parsed: rule.parsed,
      deviation: rule.deviation,
      imposed: rule.imposed,
      words: this.#rules?.[rule.concept - 1].nameOf(rule.vector) ?? null,
      isFar: this.#rules?.[rule.concept - 1].isFar(rule.vector) ?? false,
    }));
  }

  /** The rules it names, in the page's words; null without a vocabulary. */
  namedRules(answer: Answer): NamedView[] | null {
    const { manifest, vocabulary } = this.solver;
    const layout = layoutOf(manifest.configuration, manifest.noisy);
    const found = this.solver.nameRules(answer);
    if (found === null || vocabulary === null) return null;
    return found.map(({ rules, confidence, obeyed, conceptGroup, ...subject }) => ({
      key: subjectKey(subject),
      subject: subjectWords(layout, subject),
      attribute: subject.group,
      slots: layout.components[subject.component].slots.length,
      concepts: conceptsOf(vocabulary.groups.at((conceptGroup ?? 0) - 1), conceptGroup),
      symbols: symbolsOf(this.solver, answer, subject, conceptGroup),
      rules: rules.map(ruleWords),
      meaning: rules.length === 1 ? ruleMeaning(rules[0]) : '',
      confidence,
      obeyed,
    }));
  }

  /** How sure the painted panels are, attribute by attribute; null without a vocabulary. */
  sureness({ imagined }: Answer): SurenessView[][] | null {
    const { vocabulary, manifest } = this.solver;
    if (vocabulary === null || imagined === null) return null;
    const layout = layoutOf(manifest.configuration, manifest.noisy);
    return imagined.map((panel) =>
      panelCertainty(vocabulary, panel).map(({ component, attribute, probability }) => ({
        subject: named(layout, component, attribute),
        probability,
      })),
    );
  }

  /** Which of nine pictures the model does not know; null stands for a blank cell. */
  fit(panels: readonly (Panel | null)[]): Promise<FitView> {
    return this.#familiarity.judge(panels);
  }

  /** What it painted while it was trained. */
  recordedPanels(): RecordedPanels {
    const { ruleMap, imagined } = this.solver;
    if (ruleMap === null || imagined === null) throw new Error('this model keeps no panels');
    return {
      source: { layout: layoutName(ruleMap.source), seed: ruleMap.source.seed },
      moments: imagined(),
    };
  }

  /** The plane of rules of a concept (1..M). */
  plane(concept: number): PlaneView {
    const { ruleMap, manifest } = this.solver;
    if (ruleMap === null) throw new Error('this model carries no rule map');
    if (manifest.sizes.ruleSize !== 2) {
      throw new Error(`rules of ${manifest.sizes.ruleSize} values cannot be drawn on a plane`);
    }
    const m = concept - 1;
    const moments = ruleMap.snapshots.map(({ rules }) =>
      Float32Array.from(rules.flatMap((ofProblem) => [ofProblem[m][0], ofProblem[m][1]])),
    );
    const mixture = ruleMap.prior?.[m];
    const means = mixture?.means ?? [];
    // A component that hardly any rule belongs to may lie anywhere: the points decide what is in sight.
    const seen = means.filter((_, k) => (mixture?.weights[k] ?? 0) >= LEAST_WEIGHT);
    const { x, y } = frameOf(moments.slice(-1), seen);
    const known = this.#rules?.[m];
    return {
      x,
      y,
      wide: frameOf(moments, seen),
      side: PLANE_SIDE,
      density: mixture === undefined ? new Float32Array() : density(mixture, x, y),
      moments,
      classes: known?.classes ?? [],
      classOf: known?.classOf ?? [],
      labels: moments.map((points) =>
        known?.tells === true ? clusterLabels(points, known.classOf, known.classes.length) : [],
      ),
    };
  }
}

/** A curve until the step whose weights the bundle has: a training may have gone on without getting better. */
function until(curve: HistoryCurve, last = Infinity): HistoryCurve {
  const { name, steps, values } = curve;
  const isBefore = (_: number, i: number): boolean => steps[i] <= last;
  return { name, steps: steps.filter(isBefore), values: values.filter(isBefore) };
}

const conceptsOf = (group: VocabularyGroup | undefined, number: number | null): number[] =>
  number === null || group === undefined ? [] : group.concepts.map((concept) => concept + 1);

/** Groups of concepts with what they stand for: "Shape", "Outer shape and outer size". */
function groupsOf({ vocabulary, manifest }: Solver): ModelInfo['groups'] {
  const layout = layoutOf(manifest.configuration, manifest.noisy);
  return (vocabulary?.groups ?? []).map((group) => {
    const concepts = conceptsOf(group, 0);
    const words = group.attributes.map((attribute) => subjectWords(layout, attribute));
    const titles = words.map((title, i) => (i === 0 ? title : title.toLowerCase()));
    const fallback = `Concept ${concepts.join(' and ')}`;
    return { concepts, title: titles.length === 0 ? fallback : titles.join(' and ') };
  });
}

/** The concept (1..M) that tells most rules apart; the first if nothing is known. */
function liveliest(rules: readonly ConceptRules[] | null): number {
  const lively = rules?.map(({ liveliness }) => liveliness) ?? [0];
  return 1 + lively.indexOf(Math.max(...lively));
}

/** The frame of points and of means. */
function frameOf(
  moments: readonly Float32Array[],
  means: readonly (readonly number[])[],
): PlaneFrame {
  const along = (axis: 0 | 1): [number, number] =>
    span([
      ...means.map((mean) => mean[axis]),
      ...moments.flatMap((points) => [...points.filter((_, i) => i % 2 === axis)]),
    ]);
  return { x: along(0), y: along(1) };
}

/** The span of values with a margin; never empty. */
function span(values: readonly number[]): [number, number] {
  const [low, high] = values.reduce(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  );
  if (!(low <= high)) return [-1, 1];
  const margin = Math.max(0.05, PLANE_MARGIN * (high - low));
  return [low - margin, high + margin];
}

/** log p(r) on a grid of PLANE_SIDE x PLANE_SIDE, from the lowest x and y on. */
function density(
  mixture: ConstructorParameters<typeof RuleClassifier>[0],
  [x0, x1]: readonly [number, number],
  [y0, y1]: readonly [number, number],
): Float32Array {
  const classifier = new RuleClassifier(mixture);
  const values = new Float32Array(PLANE_SIDE * PLANE_SIDE);
  const at = (low: number, high: number, i: number): number =>
    low + ((high - low) * i) / (PLANE_SIDE - 1);
  for (let row = 0; row < PLANE_SIDE; row++) {
    for (let column = 0; column < PLANE_SIDE; column++) {
      const rule = [at(x0, x1, column), at(y0, y1, row)];
      values[row * PLANE_SIDE + column] = classifier.classify(rule).logDensity;
    }
  }
  return values;
}
