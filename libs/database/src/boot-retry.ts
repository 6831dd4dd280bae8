import { backoffMs } from '@millrace/platform';
import { isTransient } from './transient';

/** A process that starts while PostgreSQL restarts waits this long for it, instead of failing and being restarted. */
export const BOOT_TIMEOUT_MS = 30_000;
const BASE_MS = 100;
const CAP_MS = 1_000;

/**
 * Retry `work` while PostgreSQL is away: it restarts, fails over, or has lost the connection. `work` may run twice, so it
 * must be safe to repeat.
 *
 * @param timeoutMs after this long the last error is thrown; an error that is not transient is thrown at once.
 */
export async function retryWhileStarting<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + timeoutMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, backoffMs(tries, BASE_MS, CAP_MS)));
    }
  }
}
