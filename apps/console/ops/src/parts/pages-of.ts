import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';

/** What a table needs of a list that comes in pages. */
export function moreOf(list: UseInfiniteQueryResult<InfiniteData<unknown>>): {
  has: boolean;
  loading: boolean;
  failed: boolean;
  load: () => void;
} {
  return {
    has: list.hasNextPage,
    loading: list.isFetchingNextPage,
    failed: list.isFetchNextPageError,
    load: () => void list.fetchNextPage(),
  };
}
