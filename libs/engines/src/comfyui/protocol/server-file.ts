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
