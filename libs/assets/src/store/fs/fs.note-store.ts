import { randomUUID } from 'node:crypto';
import { mkdir, open, opendir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { NoteStore, StoredNote } from '../note-store';
import { codeOf, withFsFaults } from './fs-fault';

/** Notes as files below one folder. A file that is being written begins with a dot, which no name has. */
export class FsNoteStore implements NoteStore {
  constructor(private readonly dir: string) {}

  async put(name: string, text: string): Promise<void> {
    const target = join(this.dir, name);
    const written = join(dirname(target), `.${randomUUID()}`);
    await withFsFaults(async () => {
      const made = await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      try {
        await writeWhole(written, text);
        await rename(written, target);
      } catch (error) {
        await rm(written, { force: true });
        throw error;
      }
      // A new folder is durable when the folder that names it is.
      const top = made === undefined ? dirname(target) : dirname(made);
      for (let dir = dirname(target); ; dir = dirname(dir)) {
        await sync(dir);
        if (dir === top) return;
      }
    });
  }

  async get(name: string): Promise<string | null> {
    return withFsFaults(() => unlessMissing(readFile(join(this.dir, name), 'utf8')));
  }

  async *list(folder: string): AsyncIterable<StoredNote> {
    for await (const path of this.filesBelow(join(this.dir, folder))) {
      const found = await withFsFaults(() => unlessMissing(stat(path)));
      if (found !== null) yield { name: relative(this.dir, path).split(sep).join('/'), modifiedAt: found.mtime };
    }
  }

  async delete(name: string): Promise<void> {
    await withFsFaults(() => rm(join(this.dir, name), { force: true }));
  }

  private async *filesBelow(dir: string): AsyncGenerator<string> {
    const entries = await withFsFaults(() => unlessMissing(opendir(dir)));
    for await (const entry of entries ?? []) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) yield* this.filesBelow(path);
      else if (!entry.name.startsWith('.')) yield path;
    }
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function sync(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
