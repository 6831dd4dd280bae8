import type { Query, QueryCache } from '@tanstack/react-query';

/**
 * Keep what a failed query says while it is asked again, until something succeeds. By itself a query without data forgets its error when
 * its next request leaves: a screen that polls would change between the error and the outline of what it waits for.
 */
export function keepErrors(cache: QueryCache): void {
  const errors = new WeakMap<Query, Error>();
  cache.subscribe((event) => {
    if (event.type !== 'updated') return;
    const { query } = event;
    const { status, error } = query.state;
    const known = errors.get(query);
    if (status === 'error' && error !== null) errors.set(query, error);
    else if (event.action.type !== 'fetch') errors.delete(query);
    // Before anyone sees it: what is shown is drawn after the cache has said all that changed.
    else if (status === 'pending' && known !== undefined) query.setState({ status: 'error', error: known });
  });
}
