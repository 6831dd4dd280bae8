import type { Mail, MailNotice } from '@millrace/mail';
import type { Invitation } from './invitation.store';

/** Characters of a name in a mail, as a reader counts them. */
const NAME_LENGTH = 100;
const CHARACTERS = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * A name that somebody chose, as it stands in a mail: it adds no line, and no mail program makes a link of it, as of `evil.example` or
 * `https://…`. A dot stays at the end of a word, as in `Acme Inc.`. Marks stay on their letters, and the joiners of scripts that need
 * them between two letters: without these, words of many scripts are others.
 */
function plain(name: string): string {
  const shown = name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}\u200c\u200d ._'&-]/gu, ' ')
    .replaceAll(/(?<![\p{L}\p{M}])[\u200c\u200d]|[\u200c\u200d](?!\p{L})/gu, ' ')
    .replaceAll(/\.(?=[^ ])/g, ' ');
  return [...CHARACTERS.segment(shown)]
    .slice(0, NAME_LENGTH)
    .map(({ segment }) => segment)
    .join('');
}

/** The mail that invites somebody. */
export function invitationMail({ email, role, expiresAt }: Invitation, account: string, url: string): Mail {
  const text = [
    `You are invited to the account "${plain(account)}" as ${role}.`,
    '',
    'To accept, open this link in your browser:',
    '',
    url,
    '',
    `It counts once, and until ${expiresAt.toISOString()}. If you do not know the account, ignore this mail.`,
    '',
  ].join('\n');
  return { to: email, subject: `Invitation to ${plain(account)}`, text };
}

/** The mail with a link that signs somebody in. */
export function signInMail(email: string, account: string, url: string): Mail {
  const text = [
    `To sign in to the account "${plain(account)}", open this link in the browser in which you asked for it:`,
    '',
    url,
    '',
    'It counts once, and for 15 minutes. If you did not ask for it, ignore this mail: in another browser the link is worth nothing.',
    '',
  ].join('\n');
  return { to: email, subject: `Sign in to ${plain(account)}`, text };
}

/** The mail that says how much of what may be spent is used. */
export function spendMail(email: string, account: string, notice: { subject: string; lines: readonly string[] }): Mail {
  const text = [
    `Of the account "${plain(account)}":`,
    '',
    ...notice.lines,
    '',
    'Owners and finance members get this mail. Caps are on the page Account of the console, and in "millrace spend".',
    '',
  ].join('\n');
  return { to: email, subject: `${notice.subject}: ${plain(account)}`, text };
}

/** The mail that says that something of an account does not work any more. */
export function developerMail(email: string, account: string, notice: MailNotice): Mail {
  const text = [
    `Of the account "${plain(account)}":`,
    '',
    ...notice.lines,
    '',
    'Owners and developers get this mail.',
    '',
  ].join('\n');
  return { to: email, subject: `${notice.subject}: ${plain(account)}`, text };
}
