/** Bytes of a name that every common file system accepts, with room for a number. */
const NAME_BYTES = 200;

const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}<>:"|?*]/gu;
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/**
 * Makes a name of foreign origin safe as the name of a file in a folder: no path, no control or bidirectional character, no
 * hidden file, no option for a shell, no device of a system.
 */
export function safeFileName(name: string, fallback: string): string {
  const last = name.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const safe = last
    .replace(UNSAFE, '_')
    .replace(/^[.\-\s]+/, (lead) => '_'.repeat(lead.length))
    .replace(/[.\s]+$/, '')
    .replace(WINDOWS_DEVICE, '_$1');
  return /[^_]/.test(safe) ? shortened(safe) : fallback;
}

/** The name of the `nth` file that wants `name`: `picture.png`, `picture-2.png`, … */
export function numberedName(name: string, nth: number): string {
  if (nth <= 1) return name;
  const { stem, extension } = parts(name);
  return `${stem}-${nth}${extension}`;
}

function shortened(name: string): string {
  const { stem, extension } = parts(name);
  let kept = '';
  for (const character of stem) {
    if (Buffer.byteLength(kept + character + extension) > NAME_BYTES) break;
    kept += character;
  }
  return kept + extension;
}

/** An extension is at most ten letters or digits; anything longer belongs to the stem. */
function parts(name: string): { stem: string; extension: string } {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  return { stem: name.slice(0, name.length - extension.length), extension };
}
