/** Kernels for a GPU as a compiler for processors takes them; what runs them is runtime.h. */

/** Where the bracket that stands at `open` is closed. */
function closingOf(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at;
  }
  throw new Error('a launch has no end');
}

/** `kernel<T><<<blocks, ...>>>(arguments)` becomes a call that runs it for each thread. */
function withCalledLaunches(source: string): string {
  const launch = /([\w:]+(?:<[^<>]*>)?)<<<([^;]*?)>>>\(/;
  const found = launch.exec(source);
  if (found === null) return source;
  const [whole, kernel, sizes] = found;
  const open = found.index + whole.length - 1;
  const close = closingOf(source, open);
  const call = `emulated::launch(${sizes}, [&] { ${kernel}${source.slice(open, close + 1)}; })`;
  return source.slice(0, found.index) + call + withCalledLaunches(source.slice(close + 1));
}

/** Memory whose size a launch tells. */
const withSharedMemory = (source: string): string =>
  source.replace(
    /extern __shared__ (\w+) (\w+)\[\];/g,
    'auto* $2 = static_cast<$1*>(emulated::sharedMemory());',
  );

export const withoutCudaSyntax = (source: string): string =>
  withCalledLaunches(withSharedMemory(source));
