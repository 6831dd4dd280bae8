import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * How much a signal keeps of what has followed it: its listeners, and every composite of it (`AbortSignal.any`), of which Node.js 20
 * keeps a note for as long as the signal lives.
 */
export function followersOf(signal: AbortSignal): number {
  const note = Object.getOwnPropertySymbols(signal).find(({ description }) => description === 'kDependantSignals');
  const composites = note === undefined ? undefined : (Reflect.get(signal, note) as ReadonlySet<unknown> | undefined);
  return getEventListeners(signal, 'abort').length + (composites?.size ?? 0);
}

/** Let go of all that nothing refers to any more, now. */
export async function collectGarbage(): Promise<void> {
  // What a weak reference was made to, or read from, stays until the turn is over.
  await new Promise(setImmediate);
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
