import { useSyncExternalStore, type ReactNode } from 'react';
import { formatAgo, formatTime } from '../format';

const TICK_MS = 1_000;

/** One clock for the whole page: it runs while something shows a time. */
const readers = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  now = Date.now();
  for (const read of readers) read();
}

function subscribe(read: () => void): () => void {
  readers.add(read);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    readers.delete(read);
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time in milliseconds, a second fine. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** A time as its distance from now; the exact time on hover and for machines. */
export function Ago({ at }: { at: string }): ReactNode {
  const current = useNow();
  const time = Date.parse(at);
  return (
    <time className="number" dateTime={at} title={formatTime(time)}>
      {formatAgo(time, current)}
    </time>
  );
}
