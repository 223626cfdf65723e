/** Concepts of panels as networks have them, rows of M * d_z values, and as people do, M arrays of d_z. */
import { ArgumentError } from '../base/index.js';
import type { BundleSizes } from './bundle.js';
import type { ConceptMeans } from './questions.js';

export class ConceptLayout {
  readonly concepts: number;
  readonly conceptSize: number;
  /** Values of all concepts of a panel. */
  readonly width: number;

  constructor({ concepts, conceptSize }: Pick<BundleSizes, 'concepts' | 'conceptSize'>) {
    this.concepts = concepts;
    this.conceptSize = conceptSize;
    this.width = concepts * conceptSize;
  }

  /** The concepts of one panel as a row. */
  row(means: ConceptMeans): Float32Array {
    const { concepts, conceptSize } = this;
    if (means.length !== concepts || means.some((values) => values.length !== conceptSize)) {
      throw new ArgumentError(`concepts: expected ${concepts} of ${conceptSize} values each`);
    }
    const flat = new Float32Array(this.width);
    means.forEach((values, m) => flat.set(values, m * conceptSize));
    return flat;
  }

  rows(all: readonly ConceptMeans[]): Float32Array {
    const rows = new Float32Array(all.length * this.width);
    all.forEach((means, i) => rows.set(this.row(means), i * this.width));
    return rows;
  }

  /** Concepts of row `i`; copies, so that keeping one does not keep a whole batch. */
  means(rows: Float32Array, i: number): Float32Array[] {
    return Array.from({ length: this.concepts }, (_, m) => {
      const at = i * this.width + m * this.conceptSize;
      return rows.slice(at, at + this.conceptSize);
    });
  }
}
