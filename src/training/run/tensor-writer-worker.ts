/** The thread that writes one large checkpoint. */
import { parentPort } from 'node:worker_threads';
import { buffersOf, writeChecked, type WriteReply, type WriteRequest } from './tensor-writer.js';

/** The system's error code behind an error, however deep. */
function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code !== undefined) return code;
  }
  return undefined;
}

function write(request: WriteRequest): WriteReply['failure'] {
  try {
    writeChecked(request);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { message, code: codeOf(error) };
  }
}

parentPort?.once('message', (request: WriteRequest) => {
  const reply: WriteReply = { tensors: request.tensors, failure: write(request) };
  parentPort?.postMessage(reply, buffersOf(request.tensors));
});
