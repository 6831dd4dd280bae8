import type { Database } from '@millrace/database';
import type { MailOutbox } from '@millrace/mail';
import type { KeyRing, Loop } from '@millrace/platform';
import { SecretMint, SignInLinkStore } from '../sessions';
import { ForgetRemovedMembersLoop } from './forget-removed-members.loop';
import { MemberStore } from './member.store';
import { SendSignInMailsLoop } from './send-sign-in-mails.loop';
import { SignInRequestStore } from './sign-in-request.store';
import { SignInSeal } from './sign-in-seal';

/** Wire what is done for members beside requests. Where no mail is sent, nobody can have asked for one. */
export function composeMemberChores(database: Database, secretKey: KeyRing, outbox: MailOutbox): Loop[] {
  const members = new MemberStore();
  const forget = new ForgetRemovedMembersLoop(database, members);
  if (!outbox.isOpen) return [forget];
  const send = new SendSignInMailsLoop({
    database,
    requests: new SignInRequestStore(),
    seal: new SignInSeal(secretKey),
    members,
    links: new SignInLinkStore(),
    outbox,
    mint: new SecretMint(secretKey, 'sign-in links'),
  });
  return [forget, send];
}
