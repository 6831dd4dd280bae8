import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';

export type FolderType = 'input' | 'output' | 'temp';

export interface SavedFile {
  filename: string;
  subfolder: string;
  type: FolderType;
}

/** ComfyUI's three folders, with its rules for names and paths. */
export class ServerFolders {
  constructor(private readonly folders: Readonly<Record<FolderType, string>>) {
    rmSync(folders.temp, { recursive: true, force: true });
    for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  }

  /** The highest counter of the name in its folder, plus one; anything but a path below the folder raises. */
  save(type: FolderType, prefix: string, extension: string, bytes: Buffer): SavedFile {
    const subfolder = dirname(prefix) === '.' ? '' : dirname(prefix);
    const base = basename(prefix);
    const folder = this.inside(type, subfolder);
    if (folder === null) throw new Error('Saving image outside the output folder is not allowed.');
    mkdirSync(folder, { recursive: true });
    const counters = readdirSync(folder)
      .filter((name) => name.startsWith(`${base}_`))
      .map((name) => Number.parseInt(name.slice(base.length + 1), 10));
    const counter = Math.max(0, ...counters.filter((value) => !Number.isNaN(value))) + 1;
    const filename = `${base}_${String(counter).padStart(5, '0')}_.${extension}`;
    writeFileSync(join(folder, filename), bytes);
    return { filename, subfolder, type };
  }

  /** Stores an upload; resolves to the name it got, or to null when the folder is not below the type's. */
  store(type: FolderType, subfolder: string, name: string, overwrite: boolean, bytes: Buffer): SavedFile | null {
    const folder = this.inside(type, subfolder);
    if (folder === null) return null;
    mkdirSync(folder, { recursive: true });
    let filename = name;
    const [stem, extension] = splitExtension(name);
    for (let copy = 1; !overwrite && existsSync(join(folder, filename)); copy += 1) {
      if (readFileSync(join(folder, filename)).equals(bytes)) return { filename, subfolder, type };
      filename = `${stem} (${copy})${extension}`;
    }
    writeFileSync(join(folder, filename), bytes);
    return { filename, subfolder, type };
  }

  /** The path of a file, or null when it is not there. Nothing keeps it below its folder, as in ComfyUI. */
  find(type: FolderType, subfolder: string, filename: string): string | null {
    const path = resolve(this.folders[type], subfolder, basename(filename));
    return existsSync(path) ? path : null;
  }

  /** The bytes of an input by the name that a loader node gives: absolute and climbing paths work, as in ComfyUI. */
  readInput(name: string): Buffer {
    return readFileSync(resolve(this.folders.input, name));
  }

  hasInput(name: string): boolean {
    return existsSync(resolve(this.folders.input, name));
  }

  inside(type: FolderType, subfolder: string): string | null {
    const root = resolve(this.folders[type]);
    const folder = resolve(root, subfolder);
    return folder === root || folder.startsWith(root + sep) ? folder : null;
  }
}

function splitExtension(name: string): [string, string] {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
}
