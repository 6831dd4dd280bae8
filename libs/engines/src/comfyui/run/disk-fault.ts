import type { NodeError } from '../protocol';

const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);
const FAULTS: ReadonlySet<string | undefined> = new Set(['EIO', 'EMFILE', 'ENFILE', 'EROFS', 'ESTALE']);

/** The numbers by which Python on Linux names what a node cannot be blamed for (errno(3)). */
const NUMBERS: Readonly<Record<string, string>> = { 5: 'EIO', 28: 'ENOSPC', 30: 'EROFS', 122: 'EDQUOT' };

/**
 * What an error, or what it was caused by, says of the disk of this machine, as a part of a sentence for the job's owner; null when
 * it says nothing.
 */
export function diskFaultOf(error: unknown): string | null {
  const { cause, code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (FULL.has(code)) return `the disk of its worker is full (${code})`;
  // Only folders for the files of a run are made: that one cannot be is no doing of the run.
  if (FAULTS.has(code) || syscall === 'mkdir') return `the disk of its worker failed (${code})`;
  return cause === undefined ? null : diskFaultOf(cause);
}

/** The same of what a node raised: Python has no class of their own for these errors. */
export function diskFaultOfNode({ exceptionType, message }: NodeError): string | null {
  if (exceptionType !== 'OSError') return null;
  const [, number = ''] = /^\[Errno (\d+)\]/.exec(message) ?? [];
  return diskFaultOf({ code: NUMBERS[number] });
}
