import { CacheFolderError } from '@millrace/model-cache';
import { BootError } from '@millrace/platform';
import { WarmUpFailed } from './warm-up';

/** @throws BootError in place of an error about a folder of the cache, and of a failed warm-up, with their sentences. */
export async function asBootError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CacheFolderError) throw new BootError(error.message);
    throw error instanceof WarmUpFailed ? new BootError(`The warm-up failed: ${error.message}`) : error;
  }
}
