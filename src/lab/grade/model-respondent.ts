/** The model as one more respondent: it sees the same items and chooses by itself. */
import { ArgumentError } from '../../base/index.js';
import { layoutName, MATRIX_PIXELS, SELECTION_PIXELS, SMALL_SIZE } from '../../matrix/index.js';
import { nearest } from '../../solver/node.js';
import { answerDistances } from '../metrics/selection-accuracy.js';
import { modelsAt, openSubject } from '../open-subject.js';
import type { Subject } from '../subject.js';
import type { ItemPictures, TestItem } from './items.js';

/** Items solved together. */
const AT_ONCE = 32;

/** Panels as bytes, in a row of so many bytes an item. */
function bytesOf(items: readonly (readonly Float32Array[])[], stride: number): Uint8Array {
  const bytes = new Uint8Array(items.length * stride);
  items.forEach((panels, n) => {
    const values = panels.flatMap((panel) => Array.from(panel, (value) => Math.round(255 * value)));
    bytes.set(values, n * stride);
  });
  return bytes;
}

/** Models by the configuration they know. */
export class ModelRespondent {
  private constructor(
    readonly names: readonly string[],
    readonly subjects: ReadonlyMap<string, Subject>,
  ) {}

  /** Loads bundles and runs by name or folder, and those of whole folders; `zoo` is that of the package. */
  static async load(given: readonly string[], signal?: AbortSignal): Promise<ModelRespondent> {
    const models = (await Promise.all(given.map(modelsAt))).flat();
    const names = models.map(({ name }) => name);
    const subjects = new Map<string, Subject>();
    const respondent = new ModelRespondent(names, subjects);
    try {
      for (const { name, location } of models) {
        const subject = await openSubject(location, { metrics: ['sa'], signal });
        const layout = layoutName(subject.facts);
        if (subjects.has(layout)) {
          await subject.dispose();
          throw new ArgumentError(
            `--model ${name}: another model given answers items of ${layout} already; give one of them`,
          );
        }
        subjects.set(layout, subject);
        const { imageSize } = subject.facts;
        if (imageSize !== SMALL_SIZE) {
          throw new ArgumentError(
            `--model ${name} sees pictures of ${imageSize}x${imageSize}, items have 64x64`,
          );
        }
      }
    } catch (error) {
      await respondent.dispose();
      throw error;
    }
    return respondent;
  }

  /** The model for an item; if its configuration is not known, the only one there is. */
  #subjectFor({ layout, pictures }: TestItem): Subject | undefined {
    if (pictures === null) return undefined;
    if (layout !== null) return this.subjects.get(layout);
    return this.subjects.size === 1 ? [...this.subjects.values()][0] : undefined;
  }

  /**
   * The candidate chosen for each item, 1..8; null if the model cannot answer. `offered` are the indices of
   * the candidates that each item has; all of them unless told.
   */
  async choose(
    items: readonly TestItem[],
    signal?: AbortSignal,
    offered?: readonly (readonly number[])[],
  ): Promise<(number | null)[]> {
    const choices: (number | null)[] = items.map(() => null);
    for (const subject of this.subjects.values()) {
      const own = items.flatMap((item, i) => (this.#subjectFor(item) === subject ? [i] : []));
      for (let from = 0; from < own.length; from += AT_ONCE) {
        const slice = own.slice(from, from + AT_ONCE);
        const pictures = slice.map((i) => items[i].pictures as ItemPictures);
        const panel = bytesOf(
          pictures.map(({ context }) => context),
          MATRIX_PIXELS,
        );
        const selection = bytesOf(
          pictures.map(({ candidates }) => candidates),
          SELECTION_PIXELS,
        );
        const batch = { count: slice.length, panel, selection };
        const among = offered && slice.map((i) => offered[i]);
        const found = await answerDistances(subject, batch, signal, among);
        found.forEach(({ own }, k) => {
          const place = nearest(own);
          choices[slice[k]] = (among?.[k][place] ?? place) + 1;
        });
      }
    }
    if (choices.every((choice) => choice === null)) {
      throw new ArgumentError(
        `--model ${this.names.join(',')}: none of the items is of its configuration, or their pictures cannot be made again`,
      );
    }
    return choices;
  }

  async dispose(): Promise<void> {
    for (const subject of this.subjects.values()) await subject.dispose();
  }
}
