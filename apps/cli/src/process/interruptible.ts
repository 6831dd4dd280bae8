import type { Host } from './host';

/** Run what Ctrl-C ends in order: its signal aborts, and it takes back what is not whole. */
export async function interruptible<T>(
  host: Pick<Host, 'onInterrupt'>,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController();
  const stop = host.onInterrupt(() => leaving.abort());
  try {
    return await run(leaving.signal);
  } finally {
    stop();
  }
}
