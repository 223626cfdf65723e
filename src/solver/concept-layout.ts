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
    return this.rows([means]);
  }

  rows(all: readonly ConceptMeans[]): Float32Array {
    const rows = new Float32Array(all.length * this.width);
    all.forEach((means, i) => this.writeRow(means, rows, i * this.width));
    return rows;
  }

  /** Writes the concepts of one panel into rows, from a place on. */
  writeRow(means: ConceptMeans, rows: Float32Array, at: number): void {
    const { concepts, conceptSize } = this;
    if (means.length !== concepts || means.some((values) => values.length !== conceptSize)) {
      throw new ArgumentError(`concepts: expected ${concepts} of ${conceptSize} values each`);
    }
    for (let m = 0; m < concepts; m++) rows.set(means[m], at + m * conceptSize);
  }

  /** Concepts of row `i`; copies, so that keeping one does not keep a whole batch. */
  means(rows: Float32Array, i: number): Float32Array[] {
    return Array.from({ length: this.concepts }, (_, m) => {
      const at = i * this.width + m * this.conceptSize;
      return rows.slice(at, at + this.conceptSize);
    });
  }
}
