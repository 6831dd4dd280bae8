import {
  MutationCache,
  QueryCache,
  QueryClient,
  replaceEqualDeep,
  type Query,
  type QueryKey,
} from '@tanstack/react-query';
import { keepLinks } from './keep-links';
import { ANSWER_LOST, ApiError } from './api-error';

const ATTEMPTS = 3;

/** Only what may pass by itself is asked again: no answer, a fault of the service, or too many requests. */
function mayPass(failures: number, error: Error): boolean {
  if (!(error instanceof ApiError) || failures >= ATTEMPTS) return false;
  return error.status === 0 || error.status === 429 || error.status >= 500;
}

/** @param sessionKey of the query that says who is signed in. */
export function createQueryClient(sessionKey: QueryKey): QueryClient {
  // A session that ended, or became another account's, in another tab: the shell shows who is signed in now, over the same address.
  const readSessionAgain = (error: Error): void => {
    if (!isAboutSession(error) || !client.getQueryData(sessionKey)) return;
    void client.invalidateQueries({ queryKey: sessionKey, exact: true });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        if (query.queryKey[0] !== sessionKey[0]) readSessionAgain(error);
      },
    }),
    mutationCache: new MutationCache({
      onError: (error) => {
        readSessionAgain(error);
        // Whether it was done is seen in what is read now.
        if (error instanceof ApiError && error.code === ANSWER_LOST) void client.invalidateQueries();
      },
    }),
    defaultOptions: {
      // A browser that says it is offline may still reach a service beside it. And an act that cannot be sent fails at once: kept until the
      // connection is back, it would be done when nobody looks any more.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        retry: mayPass,
        retryDelay: (attempt, error) =>
          error instanceof ApiError && error.retryAfterS !== null ? error.retryAfterS * 1_000 : 500 * 2 ** attempt,
        staleTime: 2_000,
        structuralSharing: (known, next) => replaceEqualDeep(known, keepLinks(known, next)),
      },
    },
  });
  keepErrors(client.getQueryCache());
  return client;
}

function isAboutSession(error: Error): boolean {
  return error instanceof ApiError && (error.status === 401 || error.code === 'another_account');
}

/**
 * Keep what a failed query says while it is asked again, until something succeeds. By itself a query without data forgets its error when
 * its next request leaves: a screen that polls would change between the error and the outline of what it waits for.
 */
function keepErrors(cache: QueryCache): void {
  const errors = new WeakMap<Query, Error>();
  cache.subscribe((event) => {
    if (event.type !== 'updated') return;
    const query = event.query as Query;
    const { status, error } = query.state;
    const known = errors.get(query);
    if (status === 'error' && error !== null) errors.set(query, error);
    else if (event.action.type !== 'fetch') errors.delete(query);
    // Before anyone sees it: what is shown is drawn after the cache has said all that changed.
    else if (status === 'pending' && known !== undefined) query.setState({ status: 'error', error: known });
  });
}
