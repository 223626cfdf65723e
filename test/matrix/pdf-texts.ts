/** The texts of a PDF's pages, read as any reader does: by its table of objects. */
import { inflateSync } from 'node:zlib';

/** An object by its number, from where the table says it starts. */
function objectAt(bytes: Uint8Array, table: readonly number[], number: number): Buffer {
  const from = Buffer.from(bytes).subarray(table[number]);
  if (!from.toString('latin1', 0, 20).startsWith(`${number} 0 obj`)) {
    throw new Error(`object ${number} is not at ${table[number]}`);
  }
  return from.subarray(0, from.indexOf('endobj'));
}

/** For each page the texts on it. */
export function pdfTexts(bytes: Uint8Array): string[][] {
  const text = Buffer.from(bytes).toString('latin1');
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
  const table = [...text.slice(start).matchAll(/^(\d{10}) \d{5} [nf] $/gm)].map(([, at]) =>
    Number(at),
  );
  const root = Number(/\/Root (\d+) 0 R/.exec(text.slice(start))?.[1]);
  const pages = Number(/\/Pages (\d+)/.exec(objectAt(bytes, table, root).toString('latin1'))?.[1]);
  const kids = /\/Kids \[(.*)\]/.exec(objectAt(bytes, table, pages).toString('latin1'))?.[1] ?? '';
  return [...kids.matchAll(/(\d+) 0 R/g)].map(([, kid]) => {
    const page = objectAt(bytes, table, Number(kid)).toString('latin1');
    const content = objectAt(bytes, table, Number(/\/Contents (\d+)/.exec(page)?.[1]));
    const length = Number(/\/Length (\d+)/.exec(content.toString('latin1'))?.[1]);
    const from = content.indexOf('stream\n') + 'stream\n'.length;
    const drawn = inflateSync(content.subarray(from, from + length)).toString('latin1');
    return [...drawn.matchAll(/Tm \(((?:\\.|[^\\)])*)\) Tj/g)].map(([, written]) =>
      written.replace(/\\(.)/g, '$1'),
    );
  });
}
