/** Models of which everything is known: what they encode, predict and draw is what a test says. */
import { createHash } from 'node:crypto';
import {
  layoutOf,
  Random,
  renderPanel64,
  SMALL_PIXELS,
  type Configuration,
  type ConfigurationLayout,
  type Entity,
  type LevelRange,
} from '../../src/matrix/index.js';
import { Metrics } from '../../src/solver/index.js';
import type {
  Answer,
  BundleManifest,
  ConceptMeans,
  Panel,
  PanelInput,
  RuleMap,
  SelectionStatistics,
} from '../../src/solver/index.js';
import { bundleFacts, ConceptSubject, type Thinker } from '../../src/lab/index.js';
import { randomBundle, tinyConfig } from '../solver/random-model.js';

export const bytesOf = (panel: PanelInput): Uint8Array => {
  if (!(panel instanceof Uint8Array)) throw new Error('these models see bytes only');
  return panel;
};

/** A fingerprint of a picture as concepts: equal pictures are equal, others are far apart. */
export function fingerprint(picture: Uint8Array, concepts: number, size: number): ConceptMeans {
  const digest = createHash('sha256').update(picture).digest();
  const random = new Random(digest.readUInt32LE(0), digest.readUInt32LE(4));
  return Array.from({ length: concepts }, () =>
    Float32Array.from({ length: size }, () => random.next() / 2 ** 31 - 1),
  );
}

type Question = Parameters<Thinker['solveConcepts']>[0][number];

export interface MadeUp {
  readonly configuration?: Configuration;
  readonly concepts?: number;
  readonly size?: number;
  readonly encode?: (picture: Uint8Array) => ConceptMeans;
  /** Predicted concepts of a missing position. */
  readonly predict?: (question: Question, position: number) => ConceptMeans;
  readonly draw?: (concepts: ConceptMeans) => Panel;
  /** Parsed rules [M][d_r] of a context, and of whole matrices. */
  readonly rules?: (question: Question) => number[][];
  readonly parse?: (count: number) => number[][][];
  readonly statistics?: SelectionStatistics;
  readonly ruleMap?: RuleMap;
}

/** The manifest of a model that has no files. */
export const madeUpManifest = (
  sizes: { readonly concepts: number; readonly conceptSize: number },
  configuration: Configuration = 'center',
): BundleManifest => ({
  ...randomBundle(tinyConfig(configuration)).manifest,
  format: 'crab-bundle',
  version: 1,
  files: {},
  sizes: { ...sizes, ruleSize: 2 },
});

/** A thinker put together from parts; by default it encodes fingerprints and predicts the truth. */
export function madeUpThinker(parts: MadeUp = {}): Thinker {
  const { configuration = 'center', concepts = 2, size = 4 } = parts;
  const encode = parts.encode ?? ((picture) => fingerprint(picture, concepts, size));
  const predict = parts.predict ?? ((question, position) => question.concepts[position - 1]);
  const draw = parts.draw ?? (() => new Float32Array(SMALL_PIXELS));
  return {
    manifest: madeUpManifest({ concepts, conceptSize: size }, configuration),
    metrics: parts.statistics ? new Metrics(parts.statistics, concepts, size) : null,
    ruleMap: parts.ruleMap ?? null,
    vocabulary: null,
    parseRules: (matrices) => Promise.resolve(parts.parse?.(matrices.length) ?? []),
    encode: (panels, options) => {
      options?.signal?.throwIfAborted();
      return Promise.resolve(panels.map((panel) => encode(bytesOf(panel))));
    },
    decode: (means) => Promise.resolve(means.map(draw)),
    alternatives: () => Promise.reject(new Error('it has no vocabulary')),
    solveConcepts: (questions) =>
      Promise.resolve(
        questions.map((question): Answer => {
          const missing = question.missing ?? [9];
          const rules = parts.rules?.(question) ?? [];
          return {
            missing,
            images: [],
            symbols: null,
            imagined: null,
            concepts: question.concepts.map((means, i) =>
              missing.includes(i + 1) ? predict(question, i + 1) : means,
            ),
            rules: rules.map((parsed, m) => ({
              concept: m + 1,
              name: null,
              vector: parsed,
              parsed,
              deviation: parsed.map(() => 0),
              imposed: false,
              categories: null,
            })),
          };
        }),
      ),
  };
}

/** A subject with such a model. */
export const subjectOfThinker = (thinker: Thinker): ConceptSubject =>
  new ConceptSubject(thinker, { facts: { ...bundleFacts(thinker.manifest), hash: null } });

export const madeUpSubject = (parts: MadeUp = {}): ConceptSubject =>
  subjectOfThinker(madeUpThinker(parts));

const each = ({ min, max }: LevelRange): number[] =>
  Array.from({ length: max - min + 1 }, (_, i) => min + i);

/** Every panel a configuration of one uniform component can show, by its picture. */
export function panelsByPicture(layout: ConfigurationLayout): Map<string, Entity[]> {
  const [component] = layout.components;
  const slots = component.slots.length;
  const found = new Map<string, Entity[]>();
  for (let mask = 1; mask < 2 ** slots; mask++) {
    const taken = each({ min: 0, max: slots - 1 }).filter((slot) => (mask >> slot) & 1);
    for (const type of each(component.type)) {
      for (const size of each(component.size)) {
        for (const color of each(component.color)) {
          for (const angle of each(component.angle)) {
            const entities = taken.map((slot) => ({ slot, type, size, color, angle }));
            const panel = { components: [{ uniformity: 3, entities }] };
            const key = keyOf(renderPanel64(layout, panel));
            if (!found.has(key)) found.set(key, entities);
          }
        }
      }
    }
  }
  return found;
}

export const keyOf = (picture: Uint8Array): string =>
  createHash('sha1').update(picture).digest('base64');

/** What a picture of a configuration of one uniform component shows. */
export function recogniser(configuration: Configuration): (picture: Uint8Array) => Entity[] {
  const known = panelsByPicture(layoutOf(configuration));
  return (picture) => {
    const entities = known.get(keyOf(picture));
    if (entities === undefined) throw new Error('a picture that this configuration cannot show');
    return entities;
  };
}
