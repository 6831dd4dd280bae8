import { queryOptions } from '@tanstack/react-query';
import type { ModelName } from '@millrace/contracts';
import { queryOf, sendForJson } from './client';

const STALE_MS = 30_000;
/** The most that one page of the API has. */
const PAGE = 100;
/** More are not offered to choose from. */
const MOST_PAGES = 5;

/** A model of the library that the account may use. */
export interface LibraryModel extends ModelName {
  id: string;
  state: string;
  shared: boolean;
  size_bytes: number | null;
}

/** The models that the account may use: its own and those that are shared, by folder and name; one of each name. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => {
    const models: LibraryModel[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const query = queryOf({ limit: PAGE, cursor });
      const answer = await sendForJson<{ models: LibraryModel[]; next_cursor?: string | null }>(
        `/platform/v1/models${query}`,
        { signal },
      );
      models.push(...answer.models.filter(({ state }) => state === 'ready'));
      if (typeof answer.next_cursor !== 'string') break;
      cursor = answer.next_cursor;
    }
    const byName = new Map(models.map((model) => [pathOf(model), model]));
    return [...byName.values()].sort((a, b) => pathOf(a).localeCompare(pathOf(b)));
  },
  staleTime: STALE_MS,
});

/** `checkpoints/base.safetensors`. */
export const pathOf = ({ folder, name }: ModelName): string => `${folder}/${name}`;
