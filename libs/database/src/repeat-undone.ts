import { isConflict } from './transient';

/** How often it is done, the first time included: one that loses a third time is among so much that more tries would add to it. */
export const UNDONE_TRIES = 3;

/**
 * Do work, and again where PostgreSQL undid it in favour of other transactions: of a ring that waits for itself it ends one.
 *
 * @param work one statement or one transaction, and nothing beside it that counts twice: what it wrote before is gone when it is called again.
 * @throws what the last try failed with.
 */
export async function repeatUndone<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === UNDONE_TRIES || !isConflict(error)) throw error;
    }
  }
}
