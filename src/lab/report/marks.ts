/**
 * How we recognise our own files: a report may replace a report, and nothing else. The footer of a page
 * says who wrote it, and which figures it shows.
 */
import type { ModelEvaluation } from '../evaluation.js';
import { EVALUATION_FORMAT } from '../evaluation.js';

/** Begins the footer of every page of a zoo. */
export const ZOO_MARK = 'Written by crab report';
/** Begins the footer of every page of one model. */
export const MODEL_MARK = 'Written by crab evaluate';

/** Begins the footer of every page of graded responses. */
export const GRADE_MARK = 'Written by crab grade';

export const isMarked = (page: string, mark: string): boolean => page.includes(`<footer>${mark}`);

/** The figures that a page of ours shows, which a report of a zoo also writes as files. */
export const figuresOn = (page: string): string[] =>
  [...page.matchAll(/<figure id="([^"]+)">/g)].map(([, id]) => id);

/** What a JSON text says it is; nothing if it is none. */
function headOf(text: string): Partial<ModelEvaluation> | null {
  try {
    return JSON.parse(text) as Partial<ModelEvaluation> | null;
  } catch {
    return null;
  }
}

/** Whether a text is JSON of a format of ours, of any version. */
export const isOfFormat = (text: string, format: string): boolean =>
  headOf(text)?.format === format;

/** Whether a text is an evaluation, of any version, of the model with this name. */
export function isEvaluationOf(text: string, name: string): boolean {
  const head = headOf(text);
  return head?.format === EVALUATION_FORMAT && head.name === name;
}
