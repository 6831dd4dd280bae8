import { createTransport, type Transporter } from 'nodemailer';
import { MailRefused, type DueMail, type MailSender } from './mail';
import { isFinal, sentenceOf, type SmtpFailure } from './smtp-failure';

const CONNECT_MS = 10_000;
const SOCKET_MS = 30_000;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Sends mail by an SMTP server (RFC 5321), by TLS except where that server is on loopback (RFC 8314). */
export class SmtpSender implements MailSender {
  private readonly transport: Transporter;

  /** @param url `smtps://user:password@host:port`; `smtp://` upgrades by STARTTLS. @param from the sender's address. */
  constructor(
    url: string,
    private readonly from: string,
  ) {
    const { protocol, hostname, port, username, password } = new URL(url);
    const secure = protocol === 'smtps:';
    this.transport = createTransport({
      host: hostname.replaceAll(/^\[|\]$/g, ''),
      port: port === '' ? (secure ? 465 : 587) : Number(port),
      secure,
      requireTLS: !secure && !LOOPBACK.includes(hostname),
      ignoreTLS: !secure && LOOPBACK.includes(hostname),
      ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SOCKET_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async send({ id, to, subject, text }: DueMail): Promise<void> {
    try {
      await this.transport.sendMail({ from: this.from, to, subject, text, messageId: messageIdOf(id, this.from) });
    } catch (error) {
      const failure = error as SmtpFailure;
      // Never the error itself, nor as a cause: it would be logged with the recipient's address.
      throw isFinal(failure) ? new MailRefused(sentenceOf(failure)) : new Error(sentenceOf(failure));
    }
  }

  close(): void {
    this.transport.close();
  }
}

/** The same for each try of a mail (RFC 5322, 3.6.4). */
export function messageIdOf(id: string, from: string): string {
  return `<${id}@${/@([^>@]+)>?$/.exec(from)?.[1] ?? 'localhost'}>`;
}
