import { createHash } from 'node:crypto';
import { Refusal, type MemberRole, type Scope } from '@millrace/contracts';
import type { Caller } from '../caller';

/**
 * Where a session counts. `keys`: where API keys do. `self_hosted`: on a self-hosted surface, as long as it has the same
 * token; an open one has the empty text.
 */
export type SessionPlace = { readonly by: 'keys' } | { readonly by: 'self_hosted'; readonly token: string };

/** As whom a session acts. */
export interface SessionGrant {
  accountId: string;
  /** Null on a self-hosted surface, which has no keys. */
  apiKeyId: string | null;
}

/** Who presents a session, and how much longer it lasts at most, in milliseconds. */
export interface SessionHolder {
  sessionId: string;
  /** Null on a self-hosted surface: who may use it acts for its one account. */
  caller: Caller | null;
  validMs: number;
}

/** A session as its holder sees it. */
export interface ConsoleSession {
  id: string;
  account: { id: string; name: string };
  /** Null on a self-hosted surface. */
  key: { id: string; name: string; scopes: Scope[] } | null;
  /** Who is signed in; null for who signed in with a key of the account. */
  member: { id: string; email: string; role: MemberRole } | null;
  /** With its key, if that ends before. */
  expiresAt: Date;
}

/** A session as a list shows it. */
export interface ListedSession {
  id: string;
  createdAt: Date;
  expiresAt: Date;
  /** With which it was opened. Null on a self-hosted surface, and for a member who came by an invitation or a link by mail. */
  key: { id: string; name: string } | null;
  /** Whose it is; null for who signed in with a key of the account. */
  member: { id: string; email: string } | null;
}

/** Which sessions of an account somebody sees and ends: all, or those of one holder, as `keepNewest` counts them. */
export interface SessionsOf {
  accountId: string;
  /** Undefined: all. */
  holder?: SessionsHolder | undefined;
}

/** A member with all keys of theirs, or a key of the account; a null one has those of a self-hosted surface, which has no keys. */
export type SessionsHolder = { readonly memberId: string } | { readonly apiKeyId: string | null };

/** What a link or an invitation signs in to. */
export interface SignInOffer {
  account: { id: string; name: string };
  /** As which member, or the member whom an invitation makes; null for a link that acts as a key of the account. */
  member: { email: string; role: MemberRole } | null;
  /** Whether the browser that presents it has asked for it. */
  askedHere: boolean;
}

/** A session just made. */
export interface OpenedSession extends ConsoleSession {
  /** What the browser keeps: shown now and never again. */
  secret: string;
}

/**
 * SHA-256 over the secret and the place: a session made in one place is not found in another, nor after a change of the token.
 * The secret has 256 random bits, so the hash says nothing of the token either.
 */
export function hashSession(secret: string, place: SessionPlace): Buffer {
  return createHash('sha256')
    .update(`${secret}\n${place.by === 'keys' ? 'keys' : `token ${place.token}`}`)
    .digest();
}

/** The same refusal for a session that is unknown, has ended, or counts elsewhere. */
export function noSession(): Refusal {
  return new Refusal('unauthorized', 'You are not signed in, or the session has ended; sign in again.');
}
