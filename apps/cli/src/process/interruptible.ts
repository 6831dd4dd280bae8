import { Interrupted } from './failure';
import type { Host } from './host';

/** Run what Ctrl-C ends in order: its signal aborts, and it takes back what is not whole. A second one leaves without that. */
export async function interruptible<T>(
  host: Pick<Host, 'onInterrupt'>,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController();
  let abandon = (): void => undefined;
  const abandoned = new Promise<never>((_resolve, reject) => {
    abandon = () => reject(leftAtOnce());
  });
  const stop = host.onInterrupt(() => (leaving.signal.aborted ? abandon() : leaving.abort()));
  try {
    return await Promise.race([run(leaving.signal), abandoned]);
  } finally {
    stop();
  }
}

/** What there is to say where nothing was waited for. */
export function leftAtOnce(): Interrupted {
  const message = 'Left at once; what was under way was not taken back.';
  const cure =
    'An upload that was begun ends there by itself; of a file that was being saved, a piece named *.part may be left.';
  return new Interrupted(message, cure);
}
