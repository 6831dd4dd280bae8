import type { ServerResponse } from 'node:http';

/** On the response itself: a WeakMap of every answer costs the garbage collector more than what it is for. */
const WAITING = Symbol('waiting');
type Closing = ServerResponse & { [WAITING]?: (() => void)[] };

/**
 * Call a listener once an answer has been sent, or its connection has ended; listeners are called in their order. They share one of the
 * response: each layer has something to do then, `pipeline` adds seven, and of more than ten Node warns as of a leak.
 *
 * @param response that has not closed.
 */
export function whenClosed(response: ServerResponse, listener: () => void): void {
  const closing: Closing = response;
  if (closing[WAITING] !== undefined) {
    closing[WAITING].push(listener);
    return;
  }
  const listeners = (closing[WAITING] = [listener]);
  response.once('close', () => {
    for (const each of listeners) each();
  });
}
