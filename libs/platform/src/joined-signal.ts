import { setMaxListeners } from 'node:events';

/** A signal that follows others until it is released. */
export interface JoinedSignal {
  /** Aborts when the first of the others does, with its reason. */
  readonly signal: AbortSignal;
  /** They are followed no more, and keep nothing of it. */
  readonly release: () => void;
}

/**
 * Follow signals of which one outlives the work, or is a time limit. `AbortSignal.any` does for others. Node.js 20 notes each of its composites
 * on the signals that it follows, and removes no note: what lives as long as the process grows with each. And a time limit that
 * only a composite refers to is collected, so that it never ends.
 */
export function joinSignals(...signals: AbortSignal[]): JoinedSignal {
  const joined = new AbortController();
  const follow = (): void => {
    const first = signals.find(({ aborted }) => aborted);
    if (first !== undefined) joined.abort(first.reason);
  };
  for (const signal of signals) {
    // However many follow it, each is released: their number is no sign of a leak.
    setMaxListeners(Number.POSITIVE_INFINITY, signal);
    signal.addEventListener('abort', follow, { once: true });
  }
  follow();
  return {
    signal: joined.signal,
    release: () => signals.forEach((signal) => signal.removeEventListener('abort', follow)),
  };
}
