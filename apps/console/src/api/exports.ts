import { queryOptions } from '@tanstack/react-query';
import { deleteRecord, queryOf, sendForJson } from './client';
import { ApiError } from './api-error';

const PATH = '/platform/v1/export-destination';
const POLL_MS = 5_000;
/** On a page of the console. */
const SHOWN_DAYS = 10;
/** As many deliveries as the API answers with at once. */
const PAGE_SIZE = 100;

/** Where daily exports of the account are written. */
export interface ExportDestination {
  /** Null: the service's own. */
  bucket: string | null;
  region: string | null;
  endpoint: string | null;
  prefix: string;
  enabled: boolean;
  disabled_reason: 'by_owner' | 'failing' | null;
  failing_since: string | null;
}

/** What is sent to set it. */
export interface ExportDestinationDraft {
  bucket: string;
  region: string;
  endpoint: string | null;
  access_key_id: string;
  secret_access_key: string;
  prefix: string;
}

export interface ExportDelivery {
  id: string;
  /** Null: a test. */
  day: string | null;
  state: 'pending' | 'delivered' | 'failed';
  location: string | null;
  usage: { rows: number; charged_micros: number } | null;
  created_at: string;
  attempts: { attempt: number; at: string; error: string | null }[];
}

export interface ExportDay {
  day: string;
  complete: boolean;
  usage: { rows: number; charged_micros: number };
}

/** Null where none is set. */
export const exportDestinationQuery = queryOptions({
  queryKey: ['export-destination'],
  queryFn: async ({ signal }) => {
    try {
      return await sendForJson<ExportDestination>(PATH, { signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  },
  refetchInterval: POLL_MS,
});

/** Of all queries for deliveries. */
export const EXPORT_DELIVERIES = ['export-deliveries'] as const;

/**
 * Deliveries, newest first: those of a day and of all later days. Tests and deliveries that were repeated stand among them.
 *
 * @param day undefined: the latest deliveries.
 */
export const exportDeliveriesQuery = (day: string | undefined) =>
  queryOptions({
    queryKey: [...EXPORT_DELIVERIES, day ?? ''],
    queryFn: ({ signal }) => deliveriesSince(day, signal),
    refetchInterval: POLL_MS,
  });

async function deliveriesSince(day: string | undefined, signal: AbortSignal): Promise<ExportDelivery[]> {
  const deliveries: ExportDelivery[] = [];
  let cursor: string | undefined;
  do {
    const path = `/platform/v1/export-deliveries${queryOf({ limit: PAGE_SIZE, cursor })}`;
    const page = await sendForJson<{ deliveries: ExportDelivery[]; next_cursor?: string }>(path, { signal });
    deliveries.push(...page.deliveries);
    cursor = page.next_cursor;
    // A day is written after it has ended: what was made before it is of earlier days.
  } while (cursor !== undefined && day !== undefined && (deliveries.at(-1)?.created_at ?? '') >= day);
  return deliveries;
}

/** The last days that are complete, the latest first. */
export const exportDaysQuery = queryOptions({
  queryKey: ['export-days'],
  queryFn: async ({ signal }) =>
    (await sendForJson<{ exports: ExportDay[] }>('/platform/v1/exports', { signal })).exports
      .filter(({ complete }) => complete)
      .slice(0, SHOWN_DAYS),
});

/** The address of a day's file. */
export const exportFile = (day: string, dataset: 'usage' | 'ledger'): string =>
  `/platform/v1/exports/${day}/${dataset}.csv.gz`;

/** @throws ApiError */
export function setExportDestination(draft: ExportDestinationDraft): Promise<ExportDestination> {
  return sendForJson<ExportDestination>(PATH, { method: 'PUT', body: draft });
}

/** @throws ApiError */
export function enableExports(enabled: boolean): Promise<ExportDestination> {
  return sendForJson<ExportDestination>(PATH, { method: 'PATCH', body: { enabled } });
}

/** Write a small file. @throws ApiError */
export function testExportDestination(): Promise<ExportDelivery> {
  return sendForJson<ExportDelivery>(`${PATH}/test`, { method: 'POST' });
}

/** Its credentials go with it. @throws ApiError */
export async function removeExportDestination(): Promise<void> {
  await deleteRecord(PATH);
}
