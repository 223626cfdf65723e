/** Items whose pictures or whole description are at hand; what all banks share. */
import {
  alsoRight,
  describeChange,
  describeRules,
  layoutName,
  layoutOfProblem,
  problemToBatch,
  SMALL_PIXELS,
  type Problem,
  type SetBatch,
} from '../../matrix/index.js';
import { bytesToPanel, type Panel } from '../../solver/index.js';
import { violationOf, type ItemPictures, type TestItem } from './items.js';

const panelsOf = (bytes: Uint8Array, count: number): Panel[] =>
  Array.from({ length: count }, (_, i) =>
    bytesToPanel(bytes.subarray(i * SMALL_PIXELS, (i + 1) * SMALL_PIXELS)),
  );

export const picturesOf = ({
  panel,
  selection,
}: Pick<SetBatch, 'panel' | 'selection'>): ItemPictures => ({
  context: panelsOf(panel, 8),
  candidates: panelsOf(selection, 8),
});

/** An item whose whole description is known. */
export function describedItem(id: string, problem: Problem, pictures: ItemPictures): TestItem {
  const layout = layoutOfProblem(problem);
  return {
    id,
    layout: layoutName(layout),
    answer: problem.target + 1,
    alsoRight: alsoRight(problem).map((index) => index + 1),
    rules: describeRules(problem),
    violations: problem.candidates.map(({ changes }, i) =>
      i === problem.target
        ? []
        : changes.map((change) => violationOf(describeChange(layout, change))),
    ),
    pictures,
  };
}

export const drawnItem = (id: string, problem: Problem): TestItem =>
  describedItem(id, problem, picturesOf(problemToBatch(problem)));
