/** The folder, below ComfyUI's input, output and temporary folders, that everything of Millrace's runs is in. */
export const RUNS_FOLDER = 'millrace';

const UNSAFE_IN_NAMES = /[\u0000-\u001f\u007f"*:<>?|\\/]/g;
const MAX_NAME_LENGTH = 100;

/** The folder of one run's files, below each of ComfyUI's folders. */
export function runFolder(runId: string): string {
  return `${RUNS_FOLDER}/${runId}`;
}

/** The folder of one node's files. Each has its own, so that a file that nobody reports still has an author. */
export function nodeFolder(runId: string, ordinal: number): string {
  return `${runFolder(runId)}/${ordinal}`;
}

/**
 * The last segment of a file name prefix, fit to be one: no folders, nothing that climbs out of any. Placeholders that
 * ComfyUI fills in (`%width%`) stay.
 */
export function prefixBase(prefix: string): string {
  const last = prefix.split(/[\\/]/).findLast((segment) => segment.trim() !== '') ?? '';
  const base = last.replace(UNSAFE_IN_NAMES, '_').trim().slice(0, MAX_NAME_LENGTH);
  return /^\.*$/.test(base) ? 'ComfyUI' : base;
}

/** A name of our own for an input file: plain ASCII, with the extension by which decoders choose. */
export function stagedName(ordinal: number, name: string): string {
  const extension = /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1];
  return extension ? `${ordinal}.${extension.toLowerCase()}` : `${ordinal}`;
}

/** True for text that, read as a path, would leave the folder it is meant to stay in. */
export function isEscapingPath(text: string): boolean {
  if (/^\s*(?:[\\/~]|[A-Za-z]:|file:)/.test(text) || text.includes('\u0000')) return true;
  return text.split(/[\\/]/).some((segment) => segment.trim() === '..');
}

/** True for text that, read as a path below the input or output folder, is in the folder that everything of the runs is in. */
export function isOfRuns(text: string): boolean {
  const [first] = text.split(/[\\/]/).filter((segment) => segment.trim() !== '' && segment.trim() !== '.');
  return first?.trim().toLowerCase() === RUNS_FOLDER;
}

/**
 * `subfolder` and the folders within `name`, joined and checked: the relative path of a reported file, or null when it is
 * not a file below its root.
 */
export function containedPath(subfolder: string, name: string): string | null {
  if (isEscapingPath(subfolder) || isEscapingPath(name)) return null;
  const segments = `${subfolder}/${name}`.split(/[\\/]/).filter((segment) => segment !== '' && segment !== '.');
  const isPlain = segments.length > 0 && !/[\\/]$/.test(name) && name !== '';
  return isPlain ? segments.join('/') : null;
}
