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

/** The types by which such an error is raised, and where their messages have its number. */
const RAISED: readonly [type: RegExp, number: RegExp][] = [
  [/^OSError$/, /^\[Errno (\d+)\]/],
  // PyAV's, for one. FFmpeg says EIO of a file that is cut short, too: that is no fault of the disk.
  [/\.OSError$/, /^\[Errno (?!5\])(\d+)\]/],
  // In the words of Rust, which releases of safetensors print in different ways.
  [/(?:^|\.)SafetensorError$/, /(?:\(os error |\bOs \{ code: )(\d+)\b/],
];

/** The same of what a node raised: Python has no class of their own for these errors. */
export function diskFaultOfNode({ exceptionType, message }: NodeError): string | null {
  const number = RAISED.find(([type]) => type.test(exceptionType))?.[1].exec(message)?.[1];
  return number === undefined ? null : diskFaultOf({ code: NUMBERS[number] });
}
