/** Resolves after `ms`, or when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    }
  });
}
