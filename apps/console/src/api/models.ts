import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { ModelName } from '@millrace/contracts';
import { deleteRecord, queryOf, sendForJson } from './client';

export const MODELS = '/platform/v1/models';

const STALE_MS = 30_000;
const POLL_MS = 60_000;
/** While one arrives. */
const BUSY_POLL_MS = 2_000;
/** The most that one page of the API has. */
const PAGE = 100;
/** More are not offered to choose from. */
const MOST_PAGES = 5;

/** A model of the library that the account may use. */
export interface LibraryModel extends ModelName {
  id: string;
  state: 'uploading' | 'importing' | 'ready' | 'failed';
  /** Why it failed. */
  problem: string | null;
  /** Every account may use it. */
  shared: boolean;
  /** What its header says. */
  kind: string | null;
  architecture: string | null;
  parameters: number | null;
  /** Null while an import has not asked. */
  size_bytes: number | null;
  /** Of an import: what has arrived. */
  received_bytes: number;
  licence: string | null;
  created_at: string;
  last_used_at: string | null;
}

/** A file that the service is to fetch. */
export interface ModelImportDraft extends ModelName {
  url: string;
  /** `blake3:` or `sha256:` and 64 hexadecimal digits. */
  hash: string | null;
  licence: string | null;
}

interface ModelPage {
  models: LibraryModel[];
  next_cursor?: string;
}

/** The models that the account may use: its own and those that are shared, by folder and name; one of each name. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => {
    const models: LibraryModel[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const query = queryOf({ limit: PAGE, cursor });
      const answer = await sendForJson<ModelPage>(`${MODELS}${query}`, { signal });
      models.push(...answer.models.filter(({ state }) => state === 'ready'));
      if (answer.next_cursor === undefined) break;
      cursor = answer.next_cursor;
    }
    const byName = new Map(models.map((model) => [pathOf(model), model]));
    return [...byName.values()].sort((a, b) => pathOf(a).localeCompare(pathOf(b)));
  },
  staleTime: STALE_MS,
});

/** Models of every state, the account's own and those that are shared, newest first, page by page. */
export const modelListQuery = infiniteQueryOptions({
  queryKey: ['models', 'list'],
  queryFn: ({ pageParam, signal }) =>
    sendForJson<ModelPage>(`${MODELS}${queryOf({ limit: PAGE, cursor: pageParam })}`, { signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor,
  refetchInterval: ({ state: { data } }) => {
    const models = data?.pages.flatMap((page) => page.models) ?? [];
    return models.some(({ state }) => state === 'importing') ? BUSY_POLL_MS : POLL_MS;
  },
});

/** Have the service fetch a model. @throws ApiError */
export function importModel(draft: ModelImportDraft): Promise<LibraryModel> {
  return sendForJson<LibraryModel>('/platform/v1/model-imports', { method: 'POST', body: draft });
}

/** With its bytes. @throws ApiError `model_in_use` while a job or a deployment names it. */
export async function deleteModel(id: string): Promise<void> {
  await deleteRecord(`${MODELS}/${encodeURIComponent(id)}`);
}

/** `checkpoints/base.safetensors`. */
export const pathOf = ({ folder, name }: ModelName): string => `${folder}/${name}`;
