/** The model as one more respondent: it sees the same items and chooses by itself. */
import { ArgumentError } from '../../base/index.js';
import { layoutName } from '../../matrix/index.js';
import { listZoo, Solver } from '../../solver/node.js';
import type { TestItem } from './items.js';

/** Items solved together. */
const AT_ONCE = 32;

/** Models by the configuration they know. */
export class ModelRespondent {
  private constructor(
    readonly names: readonly string[],
    readonly solvers: ReadonlyMap<string, Solver>,
  ) {}

  /** Loads bundles by name or folder; `zoo` stands for all that come with the package. */
  static async load(given: readonly string[], signal?: AbortSignal): Promise<ModelRespondent> {
    const named = given.length === 1 && given[0] === 'zoo' ? await listZoo() : given;
    if (named.length === 0) throw new ArgumentError('--model zoo: no bundle is installed');
    const solvers = new Map<string, Solver>();
    try {
      for (const name of named) {
        const solver = await Solver.load(name, { signal });
        const layout = layoutName(solver.manifest);
        await solvers.get(layout)?.dispose();
        solvers.set(layout, solver);
      }
    } catch (error) {
      for (const solver of solvers.values()) await solver.dispose();
      throw error;
    }
    return new ModelRespondent(named, solvers);
  }

  /** The solver for an item; where its configuration is not known, the only one there is. */
  #solverFor({ layout, pictures }: TestItem): Solver | undefined {
    if (pictures === null) return undefined;
    if (layout !== null) return this.solvers.get(layout);
    return this.solvers.size === 1 ? [...this.solvers.values()][0] : undefined;
  }

  /** The candidate chosen for each item, 1..8; null where the model cannot answer. */
  async choose(items: readonly TestItem[], signal?: AbortSignal): Promise<(number | null)[]> {
    const choices: (number | null)[] = items.map(() => null);
    for (const solver of this.solvers.values()) {
      const own = items.flatMap((item, i) => (this.#solverFor(item) === solver ? [i] : []));
      for (let from = 0; from < own.length; from += AT_ONCE) {
        const slice = own.slice(from, from + AT_ONCE);
        const pictures = slice.flatMap((i) => items[i].pictures ?? []);
        const answers = await solver.solveAll(
          pictures.map(({ context }) => ({ panels: context })),
          { images: false, signal },
        );
        const chosen = await solver.chooseAll(
          pictures.map(({ candidates }, k) => ({ answer: answers[k], candidates })),
          { signal },
        );
        chosen.forEach(({ index }, k) => (choices[slice[k]] = index + 1));
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
    for (const solver of this.solvers.values()) await solver.dispose();
  }
}
