/** What takes the place of a folder of the machine that ComfyUI runs on. */
const COMFYUI = '<comfyui>';
const PYTHON = '<python>';
const ELSEWHERE = '<path>';

const SITE_PACKAGES = /(?:[A-Za-z]:)?[\\/][^\s"'<>|:]{0,400}[\\/](?:site|dist)-packages(?=[\\/])/g;
const STANDARD_LIBRARY = /(?:[A-Za-z]:)?[\\/][^\s"'<>|:]{0,400}[\\/]lib[\\/]python3(?:\.\d+)?(?=[\\/])/g;
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
    return scrubbed.replace(SITE_PACKAGES, PYTHON).replace(STANDARD_LIBRARY, PYTHON);
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
