import type { Statements } from '@millrace/database';

/** A mail to one person: plain text. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** A mail that is to be sent now. */
export interface DueMail extends Mail {
  /** The same at every try, so that a mail server and a reader can find out that two are one. */
  id: string;
}

/** The mail server will never take this mail, such as for an address that does not exist. */
export class MailRefused extends Error {}

/** What sends mail: the port that an SMTP server and a folder of files implement. */
export interface MailSender {
  /** Send, once. @throws MailRefused when trying again is useless; any other error when it is not. Neither names the recipient: both are logged. */
  send(mail: DueMail): Promise<void>;
  /** Give up what is under way at a mail server, which fails as any other mail that may be sent again. */
  close(): void;
}

/** What a mail to several people says. */
export interface MailNotice {
  subject: string;
  /** Of the text, each a line. */
  lines: readonly string[];
}

/** Mail to those of an account who answer for its money: the port of who notices what is spent. */
export interface MoneyMails {
  /** Have it sent, with the transaction that notes it. */
  add(tx: Statements, accountId: string, notice: MailNotice): Promise<void>;
}

/** Mail to those of an account who look after what is built on it: the port of who notices that something of theirs does not work. */
export interface DeveloperMails {
  /** Have it sent, with the transaction that notes it. */
  add(tx: Statements, accountId: string, notice: MailNotice): Promise<void>;
}
