import type { z } from 'zod';
import type { ConsoleSession } from '@millrace/accounts';
import { SELF_HOSTED_SCOPES } from '../endpoints';
import type { SessionSchema } from './session.schemas';

/** What stands for a key where there are none. */
const NO_KEY = { id: null, name: 'self-hosted', scopes: SELF_HOSTED_SCOPES };

/** What a session looks like on the wire. */
export function presentSession({ account, key, expiresAt }: ConsoleSession): z.output<typeof SessionSchema> {
  return { account, key: key ?? NO_KEY, expires_at: expiresAt.toISOString() };
}
