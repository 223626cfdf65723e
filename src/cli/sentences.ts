/** What a person reads of a failure: one sentence on standard error; the stack appears only with --debug. */
import { firstLineOf } from '../base/index.js';
import { faultSentence, nameToBe, systemFaultOf } from '../base/node.js';

/** The sentence a person sees. */
export function sentenceOf(error: unknown): string {
  const fault = systemFaultOf(error);
  if (fault !== null) {
    return faultSentence({ ...fault, path: fault.path && nameToBe(fault.path) }, 'the output');
  }
  return firstLineOf(error) || 'failed without a message';
}

/** The sentence after Ctrl-C. It says how the work was left only if something was lost. */
export async function sentenceAfterStop(error: unknown): Promise<string> {
  // Import it late: most commands never train.
  const { UnsavedError } = await import('../training/index.js');
  return error instanceof UnsavedError ? sentenceOf(error) : 'stopped before the end';
}
