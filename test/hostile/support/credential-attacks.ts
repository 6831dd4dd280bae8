import { randomBytes } from 'node:crypto';
import { SecretMint } from '@millrace/accounts';
import { newId } from '@millrace/contracts';
import { KeyRing } from '@millrace/platform';
import { withChecksum } from '../../../libs/accounts/src/api-key';
import { JOB_PATH, attack } from './attack';
import type { Ground } from './ground';

/** What somebody without a credential sends from the address of the other account, 32 requests at a time. */
function strangers(
  what: string,
  needs: { 401: number; 429: number },
  requestOf: (ground: Ground) => () => { path: string; headers: Record<string, string> },
) {
  const name = `32 requests at a time from the address of the other, each with another ${what}`;
  return attack('authentication', name, needs, (ground, until) => {
    const next = requestOf(ground);
    return ground.press(32, until, () => {
      const { path, headers } = next();
      return ground.sendAsNeighbour('GET', path, headers);
    });
  });
}

const cookieOf = (secret: string): Record<string, string> => ({ Cookie: `millrace_session=${secret}` });

export const CREDENTIAL_ATTACKS = [
  strangers('made-up key', { 401: 1, 429: 20 }, () => () => ({
    path: JOB_PATH,
    headers: { authorization: `Bearer ${withChecksum(`mr_live_${randomBytes(15).toString('hex')}`)}` },
  })),
  strangers('made-up session', { 401: 1, 429: 20 }, () => () => ({
    path: JOB_PATH,
    headers: cookieOf(randomBytes(48).toString('base64url')),
  })),
  // A thousand of these are looked up before any is refused.
  strangers('session that has ended', { 401: 20, 429: 1 }, ({ stack }) => {
    const mint = new SecretMint(
      KeyRing.of(Buffer.from(stack.env.MILLRACE_SECRET_KEY ?? '', 'base64')),
      'console sessions',
    );
    return () => ({ path: JOB_PATH, headers: cookieOf(mint.make()) });
  }),
  strangers('deployment that does not exist', { 401: 1, 429: 20 }, () => () => ({
    path: `/deployment/${newId()}${JOB_PATH}`,
    headers: {},
  })),
];
