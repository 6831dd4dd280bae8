import { queryOptions } from '@tanstack/react-query';
import type { MemberRole, Scope } from '@millrace/contracts';
import { ApiError } from './api-error';
import { send, sendForJson } from './client';

export interface Session {
  account: { id: string; name: string };
  /** The key that signed in; its id is null where the service is open. */
  key: { id: string | null; name: string; scopes: Scope[] };
  /** Null for who signed in with a key of the account. */
  member: { id: string; email: string; role: MemberRole } | null;
  expires_at: string;
}

/** What stands behind the `#` of an address, and works once. */
type Link = { link: string } | { invitation: string };
/** What signs in: a key, a one-time link, an invitation, or nothing where the service is open. */
export type Credential = { api_key: string } | Link | Record<string, never>;

const SESSION = '/platform/v1/session';
const SESSIONS = '/platform/v1/sessions';

/** Sign in; the session itself is an http-only cookie. @throws ApiError */
export function signIn(credential: Credential): Promise<Session> {
  return sendForJson<Session>(SESSIONS, { method: 'POST', body: credential });
}

/** Ask for a mail with a link that signs in. Whether somebody has this address is not said. @throws ApiError */
export async function sendSignInMail(email: string): Promise<void> {
  await send(`${SESSIONS}/mails`, { method: 'POST', body: { email } });
}

/** End this session, or all of the key's account. @throws ApiError */
export async function signOut(where: 'here' | 'everywhere'): Promise<void> {
  await send(where === 'here' ? SESSION : SESSIONS, { method: 'DELETE' });
}

/** Taken when the page is loaded: the router's first redirect drops what stands behind the `#`. It works once. */
let linkOfAddress = takeLink();

/** The session of this browser. Null: sign in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Session | null> => {
    const link = linkOfAddress;
    linkOfAddress = null;
    if (link !== null) return signInByLink(link);
    return (await currentSession()) ?? signInOpen();
  },
  staleTime: 60_000,
  retry: false,
});

/**
 * A link works once. Where it was used in this browser, its session is still here. Who came with an invitation means another account than
 * the one that they may be signed in to: that it made them no member of it is said.
 */
async function signInByLink(link: Link): Promise<Session> {
  try {
    return await signIn(link);
  } catch (error) {
    const mayBeHere = 'link' in link && isUnauthorized(error);
    const session = mayBeHere ? await currentSession() : null;
    if (session === null) throw error;
    return session;
  }
}

/** The session of this browser; null where there is none. */
async function currentSession(): Promise<Session | null> {
  try {
    return await sendForJson<Session>(SESSION);
  } catch (error) {
    if (isUnauthorized(error)) return null;
    throw error;
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** A self-hosted service without a token lets anyone in. */
async function signInOpen(): Promise<Session | null> {
  try {
    return await signIn({});
  } catch (error) {
    if (error instanceof ApiError && error.status > 0 && error.status < 500) return null;
    throw error;
  }
}

/** The one-time link or invitation of the address, which is taken out of it: it must not stay in the history. */
function takeLink(): Link | null {
  const behind = new URLSearchParams(window.location.hash.slice(1));
  const [link, invitation] = [behind.get('link'), behind.get('invitation')];
  if (link === null && invitation === null) return null;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return link === null ? { invitation: invitation ?? '' } : { link };
}
