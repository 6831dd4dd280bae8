import { queryOptions } from '@tanstack/react-query';
import { deleteRecord, send, sendForJson } from './client';

const POLL_MS = 10_000;
const SESSIONS = '/platform/v1/sessions';

/** A browser that is signed in. */
export interface ListedSession {
  id: string;
  created_at: string;
  expires_at: string;
  /** Null for who signed in with a key of the account. */
  member: { id: string; email: string } | null;
  /** With which it was opened; null for a member who came by mail. */
  key: { id: string; name: string } | null;
  /** Whether it is this one. */
  current: boolean;
}

/** Of all for an owner, else one's own; newest first. */
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async ({ signal }) => (await sendForJson<{ sessions: ListedSession[] }>(SESSIONS, { signal })).sessions,
  refetchInterval: POLL_MS,
});

/** End another session. @throws ApiError */
export async function endSession(id: string): Promise<void> {
  await deleteRecord(`${SESSIONS}/${id}`);
}

/** End all sessions that one can see, but this one. @throws ApiError */
export async function endOtherSessions(): Promise<void> {
  await send(`${SESSIONS}/end-others`, { method: 'POST' });
}
