import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const STORE = 'libs/accounts/src/sessions/session.store.ts';
const SESSIONS = ['apps/api/src/sessions/sessions.int-spec'];
const OPERATORS = ['apps/api/src/sessions/operator-sessions.int-spec'];
const TOKENS = ['apps/api/src/operators/operator-tokens.int-spec'];
const TOKEN_STORE = 'libs/accounts/src/operators/operator-token.store.ts';
const PROVIDER = ['apps/api/src/operators/operator-sign-in.int-spec'];
const LINKS = ['apps/api/src/sessions/sign-in-links.int-spec'];
const OWNERS = ['apps/api/src/members/owner-rights.int-spec'];

/** Of who is signed in to the console. @type {Guard[]} */
export const SESSION_GUARDS = [
  of('a session ends when its time is over', STORE, 's.expires_at > now() AND ${isLive}', '${isLive}', SESSIONS),
  of(
    "nobody ends another account's session",
    STORE,
    '? Prisma.sql`s.account_id = ${accountId}::uuid`',
    '? Prisma.sql`${accountId}::uuid IS NOT NULL`',
    ['apps/api/src/isolation.int-spec'],
  ),
  of(
    'a member has no more sessions by having more keys',
    STORE,
    'coalesce(k.member_id, s.api_key_id)',
    's.api_key_id',
    SESSIONS,
  ),
  of(
    'who signs in again and again ends no session of who has few',
    STORE,
    'ORDER BY of_holder, id DESC',
    'ORDER BY id DESC',
    SESSIONS,
  ),
  of('a session ends with its key', STORE, 's.expires_at > now() AND ${isLive}', 's.expires_at > now()', SESSIONS),
  of(
    "a session that was opened with a member's own key does no more than the role",
    STORE,
    'ON m.id = k.member_id`;',
    'ON m.id = k.member_id AND k.is_session_key`;',
    OWNERS,
  ),
  of(
    "a session that was opened with a member's own key does no more than the key",
    'libs/accounts/src/key-scopes.ts',
    'isSessionKey ? allowed : own',
    'isSessionKey || allowed.length > 0 ? allowed : own',
    OWNERS,
  ),
  of(
    'nobody signs in as a key that has ended',
    STORE,
    'AND (k.id IS NOT NULL OR ${apiKeyId}::uuid IS NULL) AND k.labels IS NULL AND ${isLive}`);',
    '`);',
    LINKS,
  ),
  of(
    'a sign-in link expires',
    'libs/accounts/src/sessions/sign-in-link.store.ts',
    ' AND expires_at > now() AND (browser_hash',
    ' AND (browser_hash',
    LINKS,
  ),
  of(
    'a session counts where it was made',
    'libs/accounts/src/sessions/console-session.ts',
    "place.by === 'keys' ? 'keys' : `token ${place.token}`",
    "''",
    LINKS,
  ),
  of(
    'a request of another page is refused',
    'apps/api/src/endpoints/callers/session-callers.ts',
    '    assertFromConsole(request);\n',
    '',
    SESSIONS,
  ),
  of(
    'a page acts for the account that it shows alone',
    'apps/api/src/endpoints/callers/session-callers.ts',
    '    assertMeant(request, caller);\n',
    '',
    SESSIONS,
  ),
  of(
    "an operator's session ends after an hour",
    'libs/accounts/src/sessions/operator-session.store.ts',
    's.secret_hash = ${hash} AND s.expires_at > now()',
    's.secret_hash = ${hash}',
    OPERATORS,
  ),
  of(
    "an operator's session ends with the admin token",
    'libs/accounts/src/sessions/operator-sessions.service.ts',
    "${this.adminToken ?? ''}",
    '',
    OPERATORS,
  ),
  of(
    "an operator's session ends with the token that opened it",
    'libs/accounts/src/sessions/operator-session.store.ts',
    't.revoked_at IS NULL AND t.expires_at > now())`',
    'true)`',
    TOKENS,
  ),
  of('a revoked operator token is refused', TOKEN_STORE, '${hash} AND revoked_at IS NULL AND', '${hash} AND', TOKENS),
  of('an expired operator token is refused', TOKEN_STORE, 'IS NULL AND expires_at > now()', 'IS NULL', TOKENS),
  of('a name of an operator is given once', TOKEN_STORE, 'DO NOTHING', 'DO UPDATE SET role = excluded.role', TOKENS),
  of(
    'an operator does what their role says',
    'libs/contracts/src/operators.ts',
    "needed === 'viewer' || role === needed || role === 'admin'",
    'true',
    TOKENS,
  ),
  of(
    'an operator with a name says why',
    'apps/api/src/endpoints/operator.guard.ts',
    'if (why && reason === null) {',
    'if (why && false) {',
    TOKENS,
  ),
  of(
    'an operator who signs in has a role by a group',
    'apps/api/src/operators/operator-sign-in.admin-controller.ts',
    'const role = roleOf(groups, this.settings.operatorsRoles);',
    "const role = roleOf(groups, this.settings.operatorsRoles) ?? 'viewer';",
    PROVIDER,
  ),
  of(
    'an e-mail address that the provider has not verified is nobody',
    'apps/api/src/operators/identity-provider.ts',
    "claims['email_verified'] === true && typeof email",
    'typeof email',
    PROVIDER,
  ),
  of(
    'a sign-in by the provider counts once',
    'apps/api/src/operators/operator-sign-in.admin-controller.ts',
    '    clearPending(request, response);\n',
    '',
    PROVIDER,
  ),
  of(
    "no other page uses an operator's session",
    'apps/api/src/endpoints/operator.guard.ts',
    '    assertSentByConsole(request);\n',
    '',
    OPERATORS,
  ),
];
