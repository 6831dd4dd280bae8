import type { z } from 'zod';
import type { ConsoleSession, ListedSession, SignInOffer } from '@millrace/accounts';
import { SELF_HOSTED_SCOPES } from '../endpoints';
import type { ListedSessionSchema, SessionSchema, SignInOfferSchema } from './session.schemas';

/** What stands for a key where there are none. */
const NO_KEY = { id: null, name: 'self-hosted', scopes: SELF_HOSTED_SCOPES };

/** What a session looks like on the wire. */
export function presentSession({
  id,
  account,
  key,
  member,
  expiresAt,
}: ConsoleSession): z.output<typeof SessionSchema> {
  return { id, account, key: key ?? NO_KEY, member, expires_at: expiresAt.toISOString() };
}

/** @param current the session that asks. */
export function presentListedSession(
  { id, createdAt, expiresAt, key, member }: ListedSession,
  current: string,
): z.output<typeof ListedSessionSchema> {
  const times = { created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() };
  return { id, ...times, key, member, current: id === current };
}

/** What a link or an invitation signs in to. */
export function presentOffer({ account, member, askedHere }: SignInOffer): z.output<typeof SignInOfferSchema> {
  return { account, member, asked_here: askedHere };
}
