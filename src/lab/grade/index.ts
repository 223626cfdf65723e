/** Grades what people answered to items of ours. Charts are loaded only for a page. */
import type { PicturedGrade } from './result.js';

export { grade, type GradeOptions } from './grade.js';
export { isRight, severalRight } from './items.js';
export { hasTimes } from './result.js';
export { intervalWords } from './statistics.js';
export type {
  AttributeGrade,
  ChoiceGrade,
  GradeResult,
  ItemGrade,
  ModelGrade,
  PicturedGrade,
  RespondentGrade,
} from './result.js';

export { crabChoices } from './crab-choices.js';
export {
  gradeAnswers,
  type AnswersOfModel,
  type GroupGrade,
  type ModelAnswers,
} from './model-answers.js';

/** The page of a graded test: one self-contained HTML document. */
export async function gradePage(graded: PicturedGrade): Promise<string> {
  return (await import('./page.js')).gradePage(graded);
}
