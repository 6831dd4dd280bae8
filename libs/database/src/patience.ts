import { backoffMs } from '@millrace/platform';
import { isTransient } from './errors';

/** A process that starts while PostgreSQL restarts waits for it, rather than be started again and again. */
export const BOOT_PATIENCE_MS = 30_000;
const BASE_MS = 100;
const CAP_MS = 1_000;

/**
 * Do something again for as long as PostgreSQL is merely away: it restarts, fails over, or has just lost the connection.
 * Only for what may be done twice.
 *
 * @param forMs gives up after this long with the last error; anything that is not transient is thrown at once.
 */
export async function patiently<T>(forMs: number, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + forMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, backoffMs(tries, BASE_MS, CAP_MS)));
    }
  }
}
