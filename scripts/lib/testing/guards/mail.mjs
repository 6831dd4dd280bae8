import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const MAIL = ['libs/mail/src/delivery.int-spec'];
const SIGN_IN_MAILS = 'libs/accounts/src/members/sign-in-mails.service.ts';
const MEMBER_STORE = 'libs/accounts/src/members/member.store.ts';
const INVITATIONS = ['apps/api/src/members/invitations.int-spec'];
const INVITATION_LIMITS = 'libs/accounts/src/members/invitation-mail-limits.ts';
const ACCEPTANCE = 'libs/accounts/src/members/accept-invitations.ts';
const LINKS_BY_MAIL = ['apps/api/src/sessions/sign-in-mails.int-spec'];
const SENT_LINKS = ['libs/accounts/src/members/sign-in-mails.int-spec'];
const LINK_STORE = 'libs/accounts/src/sessions/sign-in-link.store.ts';
const OUTBOX = 'libs/mail/src/mail-outbox.store.ts';

/** Of mail to people, and of what is asked for by mail and through it. @type {Guard[]} */
export const MAIL_GUARDS = [
  of(
    'a link by mail counts in the browser that asked',
    LINK_STORE,
    ' AND (browser_hash IS NULL OR browser_hash = ${browser})',
    '',
    LINKS_BY_MAIL,
  ),
  of(
    'a stranger does not use up what may be asked for an address',
    SIGN_IN_MAILS,
    'sign-in-mails:${who}:${network}',
    'sign-in-mails:${who}:${network.slice(0, 0)}',
    LINKS_BY_MAIL,
  ),
  of(
    'links are asked for an address a few times in a minute',
    SIGN_IN_MAILS,
    '    assertRoom(limiter, `sign-in-mails:${who}:${network}`, FOR_AN_ADDRESS);\n',
    '',
    LINKS_BY_MAIL,
  ),
  of(
    'links are asked for from a network a few times in a minute',
    SIGN_IN_MAILS,
    '    assertRoom(limiter, `sign-in-mails-from:${network}`, FROM_A_NETWORK);\n',
    '',
    LINKS_BY_MAIL,
  ),
  of(
    'links are asked for an address some times in a minute, from all networks',
    SIGN_IN_MAILS,
    '    assertRoom(limiter, `sign-in-mails:${who}`, FOR_AN_ADDRESS_FROM_ALL);\n',
    '',
    LINKS_BY_MAIL,
  ),
  of(
    'a browser has a few links of a membership at a time',
    LINK_STORE,
    'open.of_browser < ${atATime.ofBrowser} AND ',
    '',
    SENT_LINKS,
  ),
  of(
    'a network has a few links of a membership at a time',
    LINK_STORE,
    'open.of_network < ${atATime.ofNetwork} AND ',
    '',
    SENT_LINKS,
  ),
  of('a membership has some links at a time', LINK_STORE, ' AND open.of_all < ${atATime.ofAll}', '', SENT_LINKS),
  of(
    "a stranger's links are not the member's",
    LINK_STORE,
    'count(*) FILTER (WHERE browser_hash = ${browser}) AS of_browser',
    'count(*) AS of_browser',
    SENT_LINKS,
  ),
  of(
    'a request for links expires',
    'libs/accounts/src/members/sign-in-request.store.ts',
    'SELECT id FROM sign_in_requests WHERE expires_at > now() ORDER BY id',
    'SELECT id FROM sign_in_requests ORDER BY id',
    SENT_LINKS,
  ),
  of(
    'the address of a member who was removed is kept for a time',
    MEMBER_STORE,
    "removed_at < now() - make_interval(days => ${days}::int) AND email LIKE '%@%'",
    "${days}::int > 0 AND email LIKE '%@%'",
    SENT_LINKS,
  ),
  of(
    'an address is not sent one invitation after the other',
    INVITATION_LIMITS,
    '    if (paused > 0) throw tooSoon(email, paused);\n',
    '',
    INVITATIONS,
  ),
  of(
    'an address is sent a few invitations of an account in a day',
    INVITATION_LIMITS,
    '    if (ofAddress > 0) throw tooSoon(email, ofAddress);\n',
    '',
    INVITATIONS,
  ),
  of(
    'an account has some invitations mailed in a day',
    INVITATION_LIMITS,
    '    if (ofAccount > 0) throw tooMany(mailsPerDay, ofAccount);\n',
    '',
    INVITATIONS,
  ),
  of(
    'who accepts an invitation holds the account first, as who invites does',
    ACCEPTANCE,
    ' || !(await accounts.lock(tx, accountId))',
    '',
    INVITATIONS,
  ),
  of(
    'a mail is kept where the mail server refuses its sender',
    'libs/mail/src/smtp-failure.ts',
    "code === 'EENVELOPE' && command === 'RCPT TO' && !OF_OUR_SETTINGS.test(response)",
    "code === 'EENVELOPE' && !OF_OUR_SETTINGS.test(response)",
    MAIL,
  ),
  of(
    'a mail is kept where the mail server refuses its sender beside the recipient',
    'libs/mail/src/smtp-failure.ts',
    ' && !OF_OUR_SETTINGS.test(response)',
    '',
    MAIL,
  ),
  of('mail of one account does not delay that of others', OUTBOX, 'PARTITION BY account_id ', '', MAIL),
  of(
    'what expires first is sent first',
    OUTBOX,
    'PARTITION BY account_id ORDER BY expires_at, id',
    'PARTITION BY account_id ORDER BY id',
    MAIL,
  ),
  of(
    'what is not sent is swept also where no mail is sent',
    'libs/mail/src/composition.ts',
    'return { loops: [sweep], close',
    'return { loops: [], close',
    MAIL,
  ),
  of('a mail is sent by one process', OUTBOX, ', due_at = now() + make_interval(secs => ${leaseSeconds})', '', MAIL),
  of(
    'a claim of a mail that was lost changes nothing',
    OUTBOX,
    'DELETE FROM mail_messages WHERE id = ${id}::uuid AND attempts = ${attempts}',
    'DELETE FROM mail_messages WHERE id = ${id}::uuid',
    MAIL,
  ),
];
