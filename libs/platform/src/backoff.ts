/**
 * Wait between tries: exponential with full jitter, so that processes which failed together do not return together.
 *
 * @param attempt 0 for the first wait.
 * @returns milliseconds.
 */
export function backoffMs(attempt: number, baseMs: number, capMs: number): number {
  return Math.random() * Math.min(capMs, baseMs * 2 ** attempt);
}
