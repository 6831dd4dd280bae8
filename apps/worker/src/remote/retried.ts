import { BlobStoreError } from '@millrace/assets';
import { backoffMs } from '@millrace/platform';
import { GatewayUnreachable } from './gateway.client';
import { pause } from './pause';

const RETRY_BASE_MS = 200;
const RETRY_CAP_MS = 4_000;
/** With the pauses, longer than a gateway takes to be started again. */
const TRIES = 10;

/**
 * Do again what the gateway, or the store behind it, did not answer or refused for now, not before it says. `work` must be safe to
 * repeat. A signal that aborts ends a pause, and lets nothing be tried again; what is under way it does not end.
 *
 * @throws the last error; the reason of the signal.
 */
export async function retried<T>(
  work: () => Promise<T>,
  { tries = TRIES, signal }: { tries?: number; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || failures + 1 >= tries) throw error;
      const afterMs = error instanceof GatewayUnreachable ? error.retryAfterMs : 0;
      const pauseMs = afterMs + backoffMs(failures, RETRY_BASE_MS, RETRY_CAP_MS);
      await pause(pauseMs, signal);
      signal?.throwIfAborted();
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof GatewayUnreachable || (error instanceof BlobStoreError && error.fault === 'unreachable');
}
