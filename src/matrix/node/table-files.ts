/** Text files that grow line by line while problems arrive, and get their names when all are complete. */
import { PendingFile, type OutputPlace } from '../../base/node.js';

export class TableFiles {
  readonly #files: ReadonlyMap<string, { readonly file: PendingFile; length: number }>;

  private constructor(files: ReadonlyMap<string, { readonly file: PendingFile; length: number }>) {
    this.#files = files;
  }

  /** Opens files, each with the name of its table and its first line. */
  static async create(
    opened: Iterable<readonly [name: string, place: string | OutputPlace, firstLine: string]>,
  ): Promise<TableFiles> {
    const files = new Map<string, { readonly file: PendingFile; length: number }>();
    const tables = new TableFiles(files);
    try {
      for (const [name, place, firstLine] of opened) {
        files.set(name, { file: await PendingFile.create(place), length: 0 });
        await tables.add({ [name]: firstLine });
      }
      return tables;
    } catch (error) {
      await tables.abandon();
      throw error;
    }
  }

  async add(texts: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(texts)) {
      const table = this.#files.get(name);
      if (!table) throw new Error(`no table ${name}`);
      const bytes = Buffer.from(text);
      await table.file.write(bytes, table.length);
      table.length += bytes.length;
    }
  }

  async finish(): Promise<void> {
    for (const { file } of this.#files.values()) await file.commit();
  }

  async abandon(): Promise<void> {
    for (const { file } of this.#files.values()) await file.abandon();
  }
}
