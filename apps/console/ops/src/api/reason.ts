import { useSyncExternalStore } from 'react';

/** Why the operator does what they do at present, for the audit log. It is gone with the page. */
let current = '';
const listeners = new Set<() => void>();

export function reason(): string {
  return current;
}

/** Say why; the empty text takes it back. */
export function setReason(text: string): void {
  current = text.trim();
  for (const listener of listeners) listener();
}

export function useReason(): string {
  return useSyncExternalStore(subscribe, reason);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
