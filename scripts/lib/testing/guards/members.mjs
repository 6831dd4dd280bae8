import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const TESTS = ['apps/api/src/members/members.int-spec'];
const ACCESS = ['apps/api/src/accounts/access-rules.int-spec'];
const OWNERS = ['apps/api/src/members/owner-rights.int-spec'];
const MEMBER_KEYS = ['apps/api/src/members/member-keys.int-spec'];
const OWNER_RIGHTS = 'libs/accounts/src/owner-rights.ts';
const AUDIT = ['apps/api/src/audit/audit.int-spec'];
const AUDIT_STORE = 'libs/accounts/src/audit-log/audit-list.store.ts';
const DEVELOPER_MAIL = ['libs/accounts/src/members/developer-mails.int-spec'];
const MEMBER_STORE = 'libs/accounts/src/members/member.store.ts';
const INVITATION_STORE = 'libs/accounts/src/members/invitation.store.ts';

/** Of the people of an account, what owners alone do, from where keys may be used, and the log that shows it. @type {Guard[]} */
export const MEMBER_GUARDS = [
  of(
    'the last owner is not removed',
    MEMBER_STORE,
    "AND (m.role <> 'owner' OR ${keepsOwner})\n        RETURNING",
    'RETURNING',
    TESTS,
  ),
  of(
    'the last owner keeps the role',
    MEMBER_STORE,
    "AND (m.role <> 'owner' OR ${role}::text = 'owner' OR ${keepsOwner})",
    '',
    TESTS,
  ),
  of(
    'who does what owners alone do is an owner now',
    OWNER_RIGHTS,
    'if (!isOwners(scopes)) throw noOwner();',
    '',
    OWNERS,
  ),
  of(
    'who does what owners alone do has a key that works now',
    'libs/accounts/src/api-key.store.ts',
    'k.id = ${id}::uuid AND ${isLive} FOR UPDATE OF k',
    'k.id = ${id}::uuid FOR UPDATE OF k',
    OWNERS,
  ),
  of(
    'owners alone say from where keys may be used',
    'libs/accounts/src/access/access-rules.service.ts',
    '      if (keyId !== null) await this.owners.hold(tx, accountId, { keyId });\n',
    '',
    OWNERS,
  ),
  of(
    'owners alone have the account erased',
    'libs/privacy/src/erasure/erasures.service.ts',
    "      if (subject.kind === 'account' && keyId !== null) await this.owners.hold(tx, accountId, { keyId });\n",
    '',
    OWNERS,
  ),
  of(
    'who says from where a key may be used has a key that works now',
    'libs/accounts/src/api-keys.service.ts',
    "if (key !== null && apiKeyState(key, new Date()) === 'live') return key;\n  throw endedKey",
    'if (key !== null) return key;\n  throw endedKey',
    OWNERS,
  ),
  of(
    'a stream ends when the role no longer reads what it shows',
    'apps/api/src/streams/stream-chores.ts',
    'rights.get(apiKeyId)?.has(scope) !== true',
    '!rights.has(apiKeyId)',
    ['apps/api/src/streams/stream-access.timing-spec'],
  ),
  of(
    'invitations end with an owner who is lowered',
    'libs/accounts/src/members/members.service.ts',
    "role === 'owner' ? [] : await this.invitations.deleteOfMember(tx, member)",
    "role === 'owner' ? [] : await Promise.resolve([])",
    OWNERS,
  ),
  of(
    'invitations end with an owner who is removed',
    'libs/accounts/src/members/members.service.ts',
    'const invitations = await this.invitations.deleteOfMember(tx, member);',
    'const invitations: string[] = [];',
    OWNERS,
  ),
  of(
    'invitations by keys of a member end with them',
    INVITATION_STORE,
    " OR i.invited_by IN (SELECT 'api_key:' || family.id FROM family)",
    '',
    OWNERS,
  ),
  of(
    'invitations end with the key that made them',
    'libs/accounts/src/api-keys.service.ts',
    'await this.invitations.deleteOfKeys(tx, accountId, [id, ...children])',
    'await Promise.resolve([])',
    OWNERS,
  ),
  of(
    'what the keys of a member made ends with them',
    MEMBER_STORE,
    'SELECT child.id FROM api_keys child JOIN family ON child.parent_id = family.id`;',
    'SELECT family.id FROM family`;',
    MEMBER_KEYS,
  ),
  without(
    "a key that a member's key makes is the member's",
    'DROP TRIGGER api_keys_inherit_member_trigger ON api_keys',
    MEMBER_KEYS,
  ),
  without(
    "a key that replaces a member's key is the member's",
    'DROP TRIGGER api_keys_bequeath_member_trigger ON api_keys',
    MEMBER_KEYS,
  ),
  of(
    "an account reads no other one's audit log",
    AUDIT_STORE,
    'accountId !== undefined && Prisma.sql`e.account_id = ${accountId}::uuid`',
    'accountId !== undefined && Prisma.sql`${accountId}::uuid IS NOT NULL`',
    ['libs/accounts/src/audit-log/audit-list.int-spec'],
  ),
  of(
    'an account does not see which operator acted',
    AUDIT_STORE,
    "CASE WHEN ${column} ~ ${OUTSIDERS} THEN ${column} ELSE 'operator' END",
    "CASE WHEN ${column} ~ ${OUTSIDERS} THEN ${column} ELSE coalesce(${column}, 'operator') END",
    AUDIT,
  ),
  of(
    'an account does not see which operator asked for an erasure',
    AUDIT_STORE,
    "return IS_OUTSIDER.test(actor) ? actor : 'operator';",
    'return actor;',
    AUDIT,
  ),
  of(
    'an account reads in no archive which operator asked for an erasure',
    'libs/privacy/src/export/account-export.store.ts',
    '${actorsSeenByAccount(Prisma.sql`x.requested_by`)} AS requested_by',
    'x.requested_by',
    AUDIT,
  ),
  of(
    'an account does not see where an operator acted from',
    AUDIT_STORE,
    'CASE WHEN e.actor ~ ${OUTSIDERS} THEN e.address END',
    'CASE WHEN e.actor ~ ${OUTSIDERS} THEN e.address ELSE e.address END',
    AUDIT,
  ),
  of('an invitation expires', INVITATION_STORE, 'i.expires_at > now() AND ${inviterWorks}', '${inviterWorks}', TESTS),
  of('an invitation ends when its inviter does', INVITATION_STORE, ' AND ${inviterWorks}`', '`', OWNERS),
  of(
    'a key of a member does no more than the role',
    'libs/accounts/src/key-scopes.ts',
    'own.filter((scope) => allowed.includes(scope))',
    'own',
    TESTS,
  ),
  of(
    'nobody but its member uses the key of sessions',
    'libs/accounts/src/api-keys.service.ts',
    'if (found === null || found.isSessionKey) throw noKey(id);',
    'if (found === null) throw noKey(id);',
    TESTS,
  ),
  of(
    'no maximum age ends the key of sessions',
    'libs/accounts/src/access/access-rules.store.ts',
    ' AND NOT k.is_session_key',
    '',
    TESTS,
  ),
  of(
    'who is no owner ends no sessions of others',
    'apps/api/src/sessions/sessions.controller.ts',
    'if (isOwners(scopes)) return { accountId };',
    'if (isOwners(scopes) || apiKeyId !== undefined) return { accountId };',
    TESTS,
  ),
  of(
    'a member ends the sessions of all keys of theirs',
    'apps/api/src/sessions/sessions.controller.ts',
    'memberId === undefined ? { apiKeyId } : { memberId }',
    'memberId === undefined || apiKeyId !== undefined ? { apiKeyId } : { memberId }',
    TESTS,
  ),
  of(
    'a request by a key or a session is compared with the allow-lists',
    'apps/api/src/endpoints/callers/callers.ts',
    '    await this.gate.assertAllowed(caller, addressOf(request), networkOf(request));\n    return caller;',
    '    return caller;',
    ACCESS,
  ),
  of(
    'signing in is compared with the allow-lists',
    'apps/api/src/sessions/sign-in.service.ts',
    'await this.gate.assertAllowed(caller, addressOf(request), networkOf(request));',
    '',
    ACCESS,
  ),
  of(
    'a key gives away no network that it has not',
    'libs/accounts/src/key-parent.ts',
    'if (acting === null || isWithinList(allowed, acting.allowedAddresses)) return;',
    'if (acting !== undefined) return;',
    ACCESS,
  ),
  of(
    'a maximum age that would end the acting key is refused',
    'libs/accounts/src/access/access-rules.service.ts',
    'if (keyId !== null && ended.includes(keyId)) throw tooOld();',
    '',
    ACCESS,
  ),
  of(
    'a key that has ended stays so when the maximum age is taken back',
    'libs/accounts/src/access/access-rules.store.ts',
    'AND (k.expires_at IS NULL OR k.expires_at > now())',
    '',
    ACCESS,
  ),
  of(
    'the mail to developers has a limit a day',
    MEMBER_STORE,
    ' OR developer_mails < ${limit})',
    ' OR ${limit}::int > 0)',
    DEVELOPER_MAIL,
  ),
  of(
    'nobody ends, changes or replaces a key that may do more',
    'libs/accounts/src/key-parent.ts',
    "if (beyond === '' || issuer.keyId === id) return;",
    'if (issuer.keyId !== beyond) return;',
    OWNERS,
  ),
  of(
    'who has a job erased may change jobs',
    'apps/api/src/privacy/privacy.controller.ts',
    "for (const scope of subject.kind === 'account' ? [] : ERASED) assertScope(visitor.caller, scope);",
    '',
    OWNERS,
  ),
  of(
    'who reads all of an account may read each of it',
    'apps/api/src/privacy/privacy.controller.ts',
    'for (const scope of ARCHIVED) assertScope(visitor.caller, scope);',
    '',
    OWNERS,
  ),
  of(
    'who has the days of an account written to a bucket may read them',
    'apps/api/src/exports/export-deliveries.controller.ts',
    'assertScope(visitor.caller, EXPORTED);',
    '',
    OWNERS,
  ),
  of(
    'what follows a slow body is done with the rights of then',
    'apps/api/src/endpoints/visitor.guard.ts',
    'visitor.caller = await this.callers.confirm',
    'await this.callers.confirm',
    ['apps/api/src/endpoints/slow-bodies.int-spec'],
  ),
];
