/** Reads what a run left on disk in a form that can be compared between runs. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { SafetensorsFile } from '../../src/torch/index.js';
import { parseMetrics } from '../../src/training/run/logs.js';

/** Tensors by hash, and metadata without the clock. */
function tensorsOf(file: string): Record<string, unknown> {
  const opened = SafetensorsFile.open(file);
  try {
    const hashes = opened.names.map((name) => {
      const { dtype, shape } = opened.describe(name);
      const sha = createHash('sha256').update(opened.readBytes(name)).digest('hex');
      return [name, `${dtype} [${shape.join()}] ${sha}`];
    });
    const { state, sha256, ...metadata } = opened.metadata;
    expect(sha256).toHaveLength(64); // Over the clock too.
    const loop = state === undefined ? null : (JSON.parse(state) as Record<string, unknown>);
    if (loop) delete loop.seconds;
    return { tensors: Object.fromEntries(hashes) as object, metadata, loop };
  } finally {
    opened.close();
  }
}

/** Everything about a run that must not depend on when it was stopped or how fast it was. */
export async function contentOf(run: string): Promise<Record<string, unknown>> {
  const names = (await readdir(run)).sort();
  const content: Record<string, unknown> = {};
  const [newest] = names.filter((name) => /^checkpoint-\d/.test(name)).reverse();
  for (const name of names) {
    const file = path.join(run, name);
    if (name === newest || name.startsWith('checkpoint-best')) content[name] = tensorsOf(file);
    else if (name.startsWith('rules-')) content[name] = await readFile(file, 'utf8');
    else if (name === 'metrics.jsonl') {
      const lines = parseMetrics(await readFile(file));
      content[name] = lines.map(({ wall: _wall, ...rest }) => rest);
    }
  }
  return content;
}
