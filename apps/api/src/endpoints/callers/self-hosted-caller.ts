import { SCOPES } from '@millrace/contracts';
import { keylessCaller } from './keyless-caller';

/** The account through which the self-hosted surface acts. */
export const SELF_HOSTED_ACCOUNT = '00000000-0000-7000-8000-000000000001';

/** The self-hosted surface has no keys, so nobody can make one. */
export const SELF_HOSTED_SCOPES = SCOPES.filter((scope) => scope !== 'keys:admin');

/** Who may use the self-hosted surface acts for its one account. */
export const selfHostedCaller = keylessCaller(SELF_HOSTED_ACCOUNT, SELF_HOSTED_SCOPES);
