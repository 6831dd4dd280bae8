import { BlobStoreError, type BlobStoreFault } from '../blob-store';

const FAULTS: Record<string, BlobStoreFault> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'too_large',
  ENOENT: 'missing',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ESTALE: 'unreachable',
  ETIMEDOUT: 'unreachable',
  EHOSTDOWN: 'unreachable',
};

/** Run file operations; system errors are thrown as BlobStoreError. */
export async function withFsFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fsFaultOf(error);
  }
}

/** A system error as BlobStoreError; anything else as it is. */
export function fsFaultOf(error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const fault = FAULTS[code] ?? 'failed';
  return new BlobStoreError(fault, `The blob folder failed (${fault}, ${code}).`, { cause: error });
}

/** Code of a system error; undefined for every other error. */
export function codeOf(error: unknown): string | undefined {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall === undefined ? undefined : code;
}
