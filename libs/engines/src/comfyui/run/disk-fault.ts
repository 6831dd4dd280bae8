const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);
const FAULTS: ReadonlySet<string | undefined> = new Set(['EIO', 'EMFILE', 'ENFILE', 'EROFS', 'ESTALE']);

/** What an error says of the disk of this machine, as a part of a sentence for the job's owner; null when it says nothing. */
export function diskFaultOf(error: unknown): string | null {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (FULL.has(code)) return `the disk of its worker is full (${code})`;
  return FAULTS.has(code) ? `the disk of its worker failed (${code})` : null;
}
