import { basename, extname } from 'node:path';
import { isText, type EngineOutput } from '@millrace/engines';

/** In UTF-8: file systems hold names of 255 bytes, and what makes a name unique is added to it. */
const MAX_STEM_BYTES = 200;
const MAX_EXTENSION_BYTES = 20;

/** Gives outputs the names under which clients save them: the engine's own, made unique within the job. */
export class OutputNames {
  private readonly taken = new Set<string>();
  /** For names that are taken, the number to try next. */
  private readonly nextNumbers = new Map<string, number>();
  private readonly texts = new Map<string, number>();

  constructor(private readonly classOf: (nodeId: string) => string) {}

  nameOf(output: EngineOutput): string {
    const wanted = isText(output) ? this.textName(output.nodeId) : cleanName(output.name);
    const name = this.taken.has(wanted.toLowerCase()) ? this.numbered(wanted) : wanted;
    // Compared without regard to case: two names that differ in case alone are one file on many systems.
    this.taken.add(name.toLowerCase());
    return name;
  }

  /** The name with the lowest number that makes it unique. No name becomes free again, so that those below the last are not tried. */
  private numbered(wanted: string): string {
    const extension = extname(wanted);
    const stem = wanted.slice(0, wanted.length - extension.length);
    const named = (n: number): string => `${stem}-${n}${extension}`;
    // The first of the names that it can have: equal for those that differ in case alone.
    const key = named(2).toLowerCase();
    let n = this.nextNumbers.get(key) ?? 2;
    while (this.taken.has(named(n).toLowerCase())) n += 1;
    this.nextNumbers.set(key, n + 1);
    return named(n);
  }

  /** `<class>_<node>_<n>.txt` (wire supplement, section 7). */
  private textName(nodeId: string): string {
    const n = (this.texts.get(nodeId) ?? 0) + 1;
    this.texts.set(nodeId, n);
    // A slash in the name of a class or a node leads into no folder.
    return cleanName(`${this.classOf(nodeId)}_${nodeId}_${n}.txt`.replace(/[/\\]/g, '_'));
  }
}

/** A plain file name: no folder, nothing that a shell, a header or a file system reads as anything else. */
function cleanName(name: string): string {
  const plain = basename(name.replaceAll('\\', '/')).replace(
    /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>:"|?*/\u202a-\u202e\u2066-\u2069]/gu,
    '_',
  );
  const extension = cut(extname(plain), MAX_EXTENSION_BYTES);
  const stem = cut(plain.slice(0, plain.length - extname(plain).length), MAX_STEM_BYTES);
  return stem === '' || /^\.+$/.test(stem) ? `output${extension}` : stem + extension;
}

/** The beginning of a text, `maxBytes` of UTF-8 at most; no character is cut in two. */
function cut(text: string, maxBytes: number): string {
  let size = 0;
  let end = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
