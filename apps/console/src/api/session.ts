import { hashKey, queryOptions, type QueryClient } from '@tanstack/react-query';
import type { MemberRole, Scope } from '@millrace/contracts';
import { ApiError } from './api-error';
import { actFor, send, sendForJson } from './client';

export interface Session {
  account: { id: string; name: string };
  /** The key that signed in; its id is null where the service is open. */
  key: { id: string | null; name: string; scopes: Scope[] };
  /** Null for who signed in with a key of the account. */
  member: { id: string; email: string; role: MemberRole } | null;
  expires_at: string;
}

/** What a link or an invitation signs in to. */
export interface SignInOffer {
  account: { id: string; name: string };
  /** As which member, or which one you become. */
  member: { email: string; role: MemberRole } | null;
  /** Whether this browser asked for it. */
  asked_here: boolean;
}

/** What a service asks of who signs in: an API key of an account, or the one token of a self-hosted service, which has no accounts. */
export type AskedCredential = 'api_key' | 'token';

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

/** Taken when the page is loaded: the router's first redirect drops what stands behind the `#`. */
const linkOfAddress = takeLink();

/** What stood behind the `#` of the address. Null: nothing that signs in. */
export const kindOfLink = linkOfAddress === null ? null : 'link' in linkOfAddress ? 'link' : 'invitation';

/** The session of this browser. Null: sign in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ client }): Promise<Session | null> => (await currentSession()) ?? signInOpen(client),
  staleTime: 60_000,
  retry: false,
});

/** What this service asks for; known when there is no session. */
export const askedQuery = queryOptions({
  queryKey: ['asked-credential'],
  queryFn: (): AskedCredential => 'api_key',
  initialData: 'api_key' as const,
  staleTime: Infinity,
  gcTime: Infinity,
});

/**
 * What the link of the address would sign in to. Null: there is none, or nothing to decide. A link that this browser asked for signs in at
 * once; any other one may be somebody else's idea, and waits for a press.
 */
export const offerQuery = queryOptions({
  queryKey: ['sign-in-offer'],
  queryFn: async ({ client }): Promise<SignInOffer | null> => {
    if (linkOfAddress === null) return null;
    try {
      const offer = await sendForJson<SignInOffer>(`${SESSIONS}/offers`, {
        method: 'POST',
        body: linkOfAddress,
        onlyReads: true,
      });
      if (!offer.asked_here) return offer;
      await enter(client, await signIn(linkOfAddress));
    } catch (error) {
      // A link works once. Where it was used in this browser, its session is still here. That an invitation made nobody a member is said.
      const mayBeHere = 'link' in linkOfAddress && isUnauthorized(error);
      if (!mayBeHere || (await currentSession()) === null) throw error;
    }
    return null;
  },
  ...(linkOfAddress === null ? { initialData: null } : {}),
  staleTime: Infinity,
  gcTime: Infinity,
  retry: false,
});

/** Take what the link of the address offers. @throws ApiError */
export async function takeOffer(client: QueryClient): Promise<void> {
  await enter(client, await signIn(linkOfAddress ?? {}));
  leaveOffer(client);
}

/** Go on without the link of the address. */
export function leaveOffer(client: QueryClient): void {
  client.setQueryData(offerQuery.queryKey, null);
}

/** Show the session that was just opened; what was being read of the one before no longer counts. */
export async function enter(client: QueryClient, session: Session): Promise<void> {
  await client.cancelQueries({ queryKey: sessionQuery.queryKey, exact: true });
  client.setQueryData(sessionQuery.queryKey, session);
}

/**
 * Keep what the page shows and does with the account of the session: requests are meant for that account alone, and nothing that was read of
 * another one stays.
 *
 * @param onOther called when the account became another one without a sign-in in between.
 */
export function followAccount(client: QueryClient, onOther: (session: Session) => void): void {
  let shown: string | null = null;
  const ofSession = hashKey(sessionQuery.queryKey);
  client.getQueryCache().subscribe(({ query }) => {
    if (query.queryHash !== ofSession) return;
    const session = client.getQueryData(sessionQuery.queryKey) ?? null;
    const next = session?.account.id ?? null;
    if (next === shown) return;
    const left = shown;
    shown = next;
    actFor(next);
    if (left === null) return;
    const kept: unknown[] = [sessionQuery, offerQuery, askedQuery].map(({ queryKey }) => queryKey[0]);
    client.removeQueries({ predicate: (query) => !kept.includes(query.queryKey[0]) });
    if (session !== null) onOther(session);
  });
}

/** The session of this browser; null where there is none. */
async function currentSession(): Promise<Session | null> {
  try {
    return await sendForJson<Session>(SESSION, { ofAnyAccount: true });
  } catch (error) {
    if (isUnauthorized(error)) return null;
    throw error;
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** A self-hosted service without a token lets anyone in; any other service says what it asks for. */
async function signInOpen(client: QueryClient): Promise<Session | null> {
  try {
    return await signIn({});
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) throw error;
    const asked: AskedCredential = error.details?.['credential'] === 'token' ? 'token' : 'api_key';
    client.setQueryData(askedQuery.queryKey, asked);
    return null;
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
