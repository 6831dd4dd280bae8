/**
 * Wait between tries: exponential with full jitter, so that processes that failed together do not all retry at once.
 *
 * @param attempt 0 for the first wait.
 * @returns milliseconds.
 */
export function backoffMs(attempt: number, baseMs: number, capMs: number): number {
  return Math.random() * Math.min(capMs, baseMs * 2 ** attempt);
}
