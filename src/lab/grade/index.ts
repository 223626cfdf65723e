/** Grades what people answered to items of ours. */
export { grade, type GradeOptions } from './grade.js';
export { gradePage } from './page.js';
export type {
  AttributeGrade,
  ChoiceGrade,
  GradeResult,
  ItemGrade,
  ModelGrade,
  PicturedGrade,
  RespondentGrade,
} from './result.js';
