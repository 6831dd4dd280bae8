import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { WebhookEvent } from '@millrace/contracts';
import { deleteRecord, queryOf, sendForJson } from './client';

const PAGE_SIZE = 25;
const POLL_MS = 5_000;
/** The log is read again this long after the last time, for each page that is shown. */
const LOG_POLL_MS = 2_000;
const ENDPOINTS = '/platform/v1/webhook-endpoints';

export type { WebhookEvent };
export type MessageState = 'pending' | 'delivered' | 'failed';

/** Where the account has its events sent. */
export interface WebhookEndpoint {
  id: string;
  url: string;
  description: string;
  events: WebhookEvent[];
  enabled: boolean;
  disabled_at: string | null;
  disabled_reason: 'by_owner' | 'failing' | 'gone' | null;
  /** Since when attempts fail; null where the last one succeeded. */
  failing_since: string | null;
  created_at: string;
  updated_at: string;
}

/** This answer alone has the secret. */
export interface IssuedWebhookEndpoint extends WebhookEndpoint {
  secret: string;
}

/** What its owner decides of an endpoint. */
export interface WebhookEndpointDraft {
  url: string;
  events: WebhookEvent[];
  description: string;
}

export interface WebhookAttempt {
  attempt: number;
  at: string;
  /** Null where no answer came; `error` says why. */
  status: number | null;
  error: string | null;
  duration_ms: number;
  /** The first characters of what the receiver answered. */
  answer: string;
}

/** A message for an endpoint, with its last attempts, the first one first. */
export interface WebhookMessage {
  id: string;
  /** The event, or `webhook.test`. */
  type: string;
  job_id: string | null;
  batch_id: string | null;
  state: MessageState;
  created_at: string;
  ended_at: string | null;
  next_attempt_at: string | null;
  attempts: WebhookAttempt[];
}

/** Events of a time span, in ISO 8601; an end that is absent is open. */
export interface ReplaySpan {
  since?: string;
  until?: string;
  /** True: also what was delivered. */
  delivered: boolean;
  /** `next_cursor` of the answer before. */
  cursor?: string;
}

/** What a request of a span came to. */
export interface ReplayedSpan {
  replayed: number;
  more: boolean;
  /** Where the next request goes on; absent where there is no more. */
  next_cursor?: string;
}

const pathOf = (id: string): string => `${ENDPOINTS}/${encodeURIComponent(id)}`;

/** The account's endpoints, newest first. */
export const webhookEndpointsQuery = queryOptions({
  queryKey: ['webhook-endpoints'],
  queryFn: async ({ signal }) =>
    (await sendForJson<{ webhook_endpoints: WebhookEndpoint[] }>(ENDPOINTS, { signal })).webhook_endpoints,
  refetchInterval: POLL_MS,
});

export const webhookEndpointQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook-endpoints', id],
    queryFn: ({ signal }) => sendForJson<WebhookEndpoint>(pathOf(id), { signal }),
    refetchInterval: POLL_MS,
  });

/** The messages of an endpoint, newest first, page by page. */
export const webhookMessagesQuery = (id: string, state: MessageState | undefined) =>
  infiniteQueryOptions({
    queryKey: ['webhook-messages', id, state ?? ''],
    queryFn: ({ pageParam, signal }) =>
      sendForJson<{ messages: WebhookMessage[]; next_cursor?: string }>(
        `${pathOf(id)}/messages${queryOf({ limit: PAGE_SIZE, cursor: pageParam, state })}`,
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) => LOG_POLL_MS * Math.max(1, query.state.data?.pages.length ?? 1),
  });

/** @throws ApiError */
export function createWebhookEndpoint(draft: WebhookEndpointDraft): Promise<IssuedWebhookEndpoint> {
  return sendForJson<IssuedWebhookEndpoint>(ENDPOINTS, { method: 'POST', body: draft });
}

/** What is absent stays as it is. @throws ApiError */
export function changeWebhookEndpoint(
  id: string,
  changes: Partial<WebhookEndpointDraft> & { enabled?: boolean },
): Promise<WebhookEndpoint> {
  return sendForJson<WebhookEndpoint>(pathOf(id), { method: 'PATCH', body: changes });
}

/** Replace the secret; the old one signs for so many seconds more. @throws ApiError */
export function rotateWebhookSecret(id: string, overlapSeconds: number): Promise<IssuedWebhookEndpoint> {
  const body = { overlap_seconds: overlapSeconds };
  return sendForJson<IssuedWebhookEndpoint>(`${pathOf(id)}/rotate`, { method: 'POST', body });
}

/** Send a message that no event made. @throws ApiError */
export function testWebhookEndpoint(id: string): Promise<WebhookMessage> {
  return sendForJson<WebhookMessage>(`${pathOf(id)}/test`, { method: 'POST' });
}

/** Send a message again, under its id. @throws ApiError */
export function replayWebhookMessage(id: string, messageId: string): Promise<WebhookMessage> {
  return sendForJson<WebhookMessage>(`${pathOf(id)}/messages/${encodeURIComponent(messageId)}/replay`, {
    method: 'POST',
  });
}

/** Send the messages of a time span again, some thousands in one request. @throws ApiError */
export function replayWebhookMessages(id: string, span: ReplaySpan): Promise<ReplayedSpan> {
  return sendForJson(`${pathOf(id)}/replay`, { method: 'POST', body: span });
}

/** Its messages and their log go with it. @throws ApiError */
export async function deleteWebhookEndpoint(id: string): Promise<void> {
  await deleteRecord(pathOf(id));
}
