/** What takes the place of a folder of the machine that ComfyUI runs on. */
const COMFYUI = '<comfyui>';
const PYTHON = '<python>';
const ELSEWHERE = '<path>';

/** A path to its end. Each is taken whole, so that the text is gone through once, however many slashes it has. */
const PATH = /(?:[A-Za-z]:)?[\\/][^\s"'<>|:]*/g;
/** The folders of a path up to Python's own or its packages'. */
const PYTHON_FOLDER = /^.+[\\/](?:(?:site|dist)-packages|lib[\\/]python3(?:\.\d+)?)(?=[\\/])/;
/** An absolute path of two segments or more that no URL, word or marker runs into; the last segment stays. */
const ABSOLUTE_PATH =
  /(?<![\w.:/\\>-])(?:[A-Za-z]:)?(?:[\\/][^\s"'<>|:,;()[\]{}\\/]+)+(?=[\\/][^\s"'<>|:,;()[\]{}\\/]+)/g;

/** Removes from a text what must not leave the machine. */
export interface Scrubber {
  /** For messages and tracebacks: every absolute path loses its folders. */
  failure: (text: string) => string;
  /** For output of the workflow's own code: only known folders are replaced, because the text is its author's. */
  log: (text: string) => string;
}

/**
 * @param roots folders of the machine, absolute: ComfyUI's own, its input, output, temp and user folder
 * @param secrets values that appear nowhere, no matter what prints them
 */
export function createScrubber(roots: Iterable<string>, secrets: Iterable<string>): Scrubber {
  const inFolders = matchAny(outermost([...new Set([...roots].map(withoutTrailingSlash))].filter(isFolder)));
  // Shorter ones would blank out ordinary words.
  const hidden = [...secrets].filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);
  const known = (text: string): string => {
    let scrubbed = text;
    for (const secret of hidden) scrubbed = scrubbed.replaceAll(secret, '[redacted]');
    if (inFolders) scrubbed = scrubbed.replace(inFolders, COMFYUI);
    return scrubbed.replace(PATH, (path) => path.replace(PYTHON_FOLDER, PYTHON));
  };
  return { log: known, failure: (text) => known(text).replace(ABSOLUTE_PATH, ELSEWHERE) };
}

function withoutTrailingSlash(folder: string): string {
  return folder.replace(/[\\/]+$/, '');
}

/** The folders that are in no other: what is below one of them keeps the rest of its path. */
function outermost(folders: string[]): string[] {
  return folders.filter(
    (folder) => !folders.some((other) => folder.startsWith(`${other}/`) || folder.startsWith(`${other}\\`)),
  );
}

function matchAny(folders: string[]): RegExp | null {
  return folders.length === 0 ? null : new RegExp(`(?:${folders.map(escaped).join('|')})(?![\\w-])`, 'g');
}

/** `/` or `C:` alone would match in the middle of everything. */
function isFolder(folder: string): boolean {
  return /^(?:[A-Za-z]:)?[\\/][^\\/]/.test(folder);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/**
 * What has to be scrubbed of a text whose first `length` characters are shown: twice as much at most. The last word goes, of which
 * the cut may have left half: nobody knows half a path or half a secret for what it is.
 */
export function beginningToScrub(text: string, length: number): string {
  if (text.length <= 2 * length) return text;
  const [word] = /\s\S*$/.exec(text.slice(length, 2 * length)) ?? [];
  return text.slice(0, word === undefined ? length : 2 * length - word.length);
}

/** The same of a text whose last `length` characters are shown, without the word that it may begin in the middle of. */
export function endToScrub(text: string, length: number): string {
  if (text.length <= 2 * length) return text;
  const word = text.slice(-2 * length, -length).search(/\s/);
  return text.slice(word < 0 ? -length : word - 2 * length);
}
