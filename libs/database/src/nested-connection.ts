import { AsyncLocalStorage } from 'node:async_hooks';

/*
 * Nothing waits for a second connection while it holds one: where a pool's connections are all held by work that waits for one
 * more, none of that work ends before its timeout. Tests refuse it, so that no path comes to production that does.
 */

/** The database of which the present work holds a connection, in a transaction. */
export const holdingConnection = new AsyncLocalStorage<object | null>();

/** Work in a transaction asked for another connection of the same pool. */
export class NestedConnectionError extends Error {
  constructor() {
    super('work that holds a connection asked for another one; use the transaction that it was given');
    this.name = 'NestedConnectionError';
  }
}

/**
 * Begin work on a connection of its own beside the transaction that is open here, as another process would. Only specs use it, to have two
 * transactions meet; in the product such work is refused (`NestedConnectionError`).
 */
export function besideTransaction<T>(work: () => T): T {
  return holdingConnection.run(null, work);
}
