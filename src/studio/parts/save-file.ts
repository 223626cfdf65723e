/** Hands a file to the browser, which saves it where a person wants it. */
import type { ExportedFile } from '../engine/protocol.js';

export function saveFile({ name, type, bytes }: ExportedFile): void {
  const address = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
