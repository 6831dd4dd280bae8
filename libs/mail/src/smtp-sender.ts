import { createTransport, type Transporter } from 'nodemailer';
import { MailRefused, type DueMail, type MailSender } from './mail';

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
      throw isFinal(error as SmtpFailure) ? new MailRefused(sentenceOf(error)) : error;
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

/** What a failed command says, as nodemailer names it. */
interface SmtpFailure {
  code?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

/** Of the sender's address, or of what we may do (RFC 3463, 3.2 and 3.8). Many servers say it when they are asked for the recipient. */
const OF_OUR_SETTINGS = /^5\d\d[ -]5\.(?:1\.[78]|7\.\d+)\b/;

/**
 * A 5xx to the recipient or to the message is final (RFC 5321, 4.2.1). One to our credentials, to the sender's address, or to what we
 * may send is that of a setting, which may be put right.
 */
function isFinal({ code, command, response = '', responseCode = 0 }: SmtpFailure): boolean {
  if (responseCode < 500) return false;
  if (code === 'EMESSAGE') return true;
  return code === 'EENVELOPE' && command === 'RCPT TO' && !OF_OUR_SETTINGS.test(response);
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
