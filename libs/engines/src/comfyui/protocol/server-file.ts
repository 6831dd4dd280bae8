/** A file as ComfyUI names it: a folder of its three, and the path in it. */
export interface ServerFile {
  type: 'output' | 'temp' | 'input';
  /** Relative, with `/`, checked to stay in the folder. */
  path: string;
}

/** The name of a file without the folders that it is in. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Where the bytes of a file that is fetched go: into memory, where they are known to be few, else into a new file. */
export interface FetchTarget {
  /** Makes the place of the new file, and gives its path. Called once at most. */
  readonly newPath: () => Promise<string>;
  /** Bytes that may be held in memory. */
  maxHeldBytes: number;
}

/** The bytes of a file, or the path of the new file that has them. */
export type Fetched = Buffer | string;
