import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

const INDEX = '/index.html';
/** Vite names a file here by its content: it never changes. */
const HASHED = '/assets/';
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};
/** Forms that the build lays beside a file, the smallest first, and their names in `Content-Encoding`. */
const FORMS = { br: '.br', gzip: '.gz' } as const;
type Encoding = keyof typeof FORMS;
const ENCODINGS = Object.keys(FORMS) as Encoding[];

/** One file of the application. */
export interface ConsoleFile {
  path: string;
  type: string;
  /** Never changes under this name. */
  immutable: boolean;
  /** The smallest first. */
  encodings: readonly Encoding[];
}

/** Of all files together; what is beyond is read each time. The console has a tenth of it. */
const KEPT_BYTES = 16_777_216;

/** The built application: what is there is looked up once, and the bytes of a file are read with its first request. */
export class ConsoleFiles {
  private readonly files: ReadonlyMap<string, ConsoleFile>;
  private readonly kept = new Map<string, Buffer>();
  private keptBytes = 0;

  /** @param folder of the build; there are no files where it is absent. */
  constructor(private readonly folder: string) {
    const names = new Set(namesIn(folder));
    const isForm = (name: string): boolean => ENCODINGS.some((encoding) => name.endsWith(FORMS[encoding]));
    const plain = [...names].filter((name) => !isForm(name));
    this.files = new Map(
      plain.map((path) => [
        path,
        {
          path,
          type: TYPES[extname(path)] ?? 'application/octet-stream',
          immutable: path.startsWith(HASHED),
          encodings: ENCODINGS.filter((encoding) => names.has(path + FORMS[encoding])),
        },
      ]),
    );
  }

  /**
   * What is at a path: a file, else the one page, which shows what belongs there. Null for a hashed file that is not there (a
   * page must not pass for a script), and where nothing was built.
   */
  find(path: string): ConsoleFile | null {
    return this.files.get(path) ?? (path.startsWith(HASHED) ? null : (this.files.get(INDEX) ?? null));
  }

  /** The bytes of a file in one of its forms. @returns null when it has gone: another build has taken its place. */
  async read({ path }: ConsoleFile, encoding: Encoding | null): Promise<Buffer | null> {
    const name = path + (encoding === null ? '' : FORMS[encoding]);
    return this.kept.get(name) ?? this.load(name);
  }

  private async load(name: string): Promise<Buffer | null> {
    try {
      const bytes = await readFile(join(this.folder, name));
      if (!this.kept.has(name) && this.keptBytes + bytes.length <= KEPT_BYTES) {
        this.kept.set(name, bytes);
        this.keptBytes += bytes.length;
      }
      return bytes;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }
}

/** The files below a folder, as paths that begin with a slash. */
function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
