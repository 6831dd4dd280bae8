import type { ServerResponse } from 'node:http';

const waiting = new WeakMap<ServerResponse, (() => void)[]>();

/**
 * Call a listener once an answer has been sent, or its connection has ended; listeners are called in their order. They share one of the
 * response: each layer has something to do then, `pipeline` adds seven, and of more than ten Node warns as of a leak.
 *
 * @param response that has not closed.
 */
export function whenClosed(response: ServerResponse, listener: () => void): void {
  const listeners = waiting.get(response);
  if (listeners !== undefined) {
    listeners.push(listener);
    return;
  }
  const all = [listener];
  waiting.set(response, all);
  response.once('close', () => {
    waiting.delete(response);
    for (const each of all) each();
  });
}
