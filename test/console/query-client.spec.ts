import { QueryObserver, type QueryClient, type QueryObserverResult } from '@tanstack/react-query';
import { ApiError } from '../../apps/console/src/api/api-error';
import { createQueryClient } from '../../apps/console/src/api/query-client';

const KEY = ['list'];
/** It is not asked again by itself. */
const REFUSED = new ApiError(403, 'forbidden', 'No.');

let client: QueryClient;
let answers: (() => Promise<string>)[];
let seen: QueryObserverResult<string>[];
let observer: QueryObserver<string>;
beforeEach(() => {
  client = createQueryClient(['session']);
  answers = [];
  seen = [];
  observer = new QueryObserver<string>(client, { queryKey: KEY, queryFn: async () => answers.shift()?.() ?? 'late' });
  observer.subscribe((result) => seen.push(result));
});
afterEach(() => {
  observer.destroy();
  client.clear();
});

const refuse = (): Promise<string> => Promise.reject(REFUSED);
const statuses = (): string[] => seen.map(({ status }) => status);

describe('a query that has failed', () => {
  beforeEach(async () => {
    answers.push(refuse, refuse);
    await observer.refetch({ cancelRefetch: false });
    seen = [];
  });

  it('keeps its error while it is asked again, and after it has failed again', async () => {
    const again = observer.refetch();
    expect(observer.getCurrentResult()).toMatchObject({ status: 'error', error: REFUSED, isFetching: true });
    expect((await again).error).toBe(REFUSED);
    expect(new Set(statuses())).toEqual(new Set(['error']));
  });

  it('has none any more once something succeeded', async () => {
    await observer.refetch();
    expect(await observer.refetch()).toMatchObject({ status: 'success', data: 'late', error: null });
  });

  it('has none any more after it was forgotten', async () => {
    const forgotten = client.resetQueries({ queryKey: KEY });
    expect(observer.getCurrentResult()).toMatchObject({ status: 'pending', error: null });
    await forgotten;
  });
});
