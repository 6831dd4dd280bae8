import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isNoRoom, namesIn, readText, removeFile } from './files';

/** Names of one model that are kept. Accounts call one content by names of their own, and any of them may choose many. */
const NAMES_OF_A_MODEL = 16;
/** Names of all models that are listed, and their bytes with what JSON adds to each: every heartbeat of a worker carries them. */
const LISTED_NAMES = 4_000;
const LISTED_BYTES = 256 * 1024;
const QUOTES_AND_COMMA = 3;

/** The names by which graphs call models, a file for each digest, bounded for all names that accounts choose. Lost names cost a hint of where a model is. */
export class NotedNames {
  constructor(private readonly folder: string) {}

  /** Add a name to those of a model, where the disk takes it. The one that came first makes way. */
  async note(digest: string, name: string): Promise<void> {
    const known = await this.of(digest);
    if (known.includes(name)) return;
    const path = join(this.folder, digest);
    const draft = `${path}.${randomUUID()}.new`;
    try {
      await writeFile(draft, [...known, name].slice(-NAMES_OF_A_MODEL).join('\n'));
      await rename(draft, path);
    } catch (error) {
      await removeFile(draft);
      if (!isNoRoom(error)) throw error;
    }
  }

  /**
   * The names of these models, each once, in the order of their text.
   *
   * @param digests the first go before the others where all are too many
   */
  async list(digests: readonly string[]): Promise<string[]> {
    const listed = new Set<string>();
    let bytes = 0;
    for (const digest of digests) {
      for (const name of await this.of(digest)) {
        if (listed.has(name)) continue;
        bytes += Buffer.byteLength(name) + QUOTES_AND_COMMA;
        if (listed.size === LISTED_NAMES || bytes > LISTED_BYTES) return [...listed].sort();
        listed.add(name);
      }
    }
    return [...listed].sort();
  }

  async forget(digest: string): Promise<void> {
    await removeFile(join(this.folder, digest));
  }

  /** Remove the names of models that are gone, and drafts that a crash has left. */
  async sweep(models: ReadonlySet<string>): Promise<void> {
    for (const name of await namesIn(this.folder)) if (!models.has(name)) await this.forget(name);
  }

  private async of(digest: string): Promise<string[]> {
    return ((await readText(join(this.folder, digest)))?.split('\n') ?? []).slice(-NAMES_OF_A_MODEL);
  }
}
