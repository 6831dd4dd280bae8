const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);
const FAULTS: ReadonlySet<string | undefined> = new Set(['EIO', 'EMFILE', 'ENFILE', 'EROFS', 'ESTALE']);

/** What an error says of the disk of this machine, as a part of a sentence for the job's owner; null when it says nothing. */
export function diskFaultOf(error: unknown): string | null {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (FULL.has(code)) return `the disk of its worker is full (${code})`;
  // Only folders for the files of a run are made: that one cannot be is no doing of the run.
  return FAULTS.has(code) || syscall === 'mkdir' ? `the disk of its worker failed (${code})` : null;
}
