/**
 * How far the download of a bundle has come. The solver fetches by itself; while one loads, this worker's
 * `fetch` counts the bytes of everything below the bundle's address.
 */
type Fetch = typeof fetch;

function counted(response: Response, onBytes: (count: number) => void): Response {
  if (response.body === null) return response;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes(chunk.length);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}

/** Runs `work` while bytes that come in from below `base` are reported. */
export async function watchingDownloads<T>(
  base: URL,
  onBytes: (count: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  const plain: Fetch = globalThis.fetch;
  const watching: Fetch = async (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    const response = await plain(input, init);
    return address.startsWith(base.href) ? counted(response, onBytes) : response;
  };
  globalThis.fetch = watching;
  try {
    return await work();
  } finally {
    // Another load may have put its own in between; it goes on working, and ends by itself.
    if (globalThis.fetch === watching) globalThis.fetch = plain;
  }
}
