/**
 * Concepts of panels, each different picture encoded once: the same panel comes back many times among
 * contexts and candidates (center has 2,400 in all). Pictures are told apart by their SHA-1.
 */
import { createHash } from 'node:crypto';
import { SMALL_PIXELS } from '../../matrix/index.js';
import type { ConceptMeans } from '../../solver/index.js';
import type { Thinker } from '../subject.js';

/** Pictures kept at most; then all are forgotten and encoded again when they return. */
const MOST_KEPT = 60_000;

export interface EncodedPanels {
  /** Equal for panels that are equal to the pixel. */
  readonly keys: readonly string[];
  readonly means: readonly ConceptMeans[];
}

const keyOf = (picture: Uint8Array): string => createHash('sha1').update(picture).digest('base64');

export class PanelEncoder {
  readonly #known = new Map<string, ConceptMeans>();

  constructor(readonly solver: Pick<Thinker, 'encode'>) {}

  /** Pictures u8 [n, 64, 64] in order. */
  async encode(pictures: Uint8Array, signal?: AbortSignal): Promise<EncodedPanels> {
    const count = pictures.length / SMALL_PIXELS;
    const picture = (i: number): Uint8Array =>
      pictures.subarray(i * SMALL_PIXELS, (i + 1) * SMALL_PIXELS);
    const keys = Array.from({ length: count }, (_, i) => keyOf(picture(i)));
    if (this.#known.size > MOST_KEPT) this.#known.clear();
    const fresh = new Map<string, Uint8Array>();
    keys.forEach((key, i) => {
      if (!this.#known.has(key)) fresh.set(key, picture(i));
    });
    const encoded = await this.solver.encode([...fresh.values()], { signal });
    [...fresh.keys()].forEach((key, i) => this.#known.set(key, encoded[i]));
    return {
      keys,
      means: keys.map((key) => {
        const means = this.#known.get(key);
        if (means === undefined) throw new Error('panel encoder: a panel was not encoded');
        return means;
      }),
    };
  }
}
