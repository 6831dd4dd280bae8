import { Readable } from 'node:stream';
import { createTransport, type Transporter } from 'nodemailer';
import { MailRefused, type DueMail, type MailSender } from './mail';
import { isFinal, sentenceOf, type SmtpFailure } from './smtp-failure';

const CONNECT_MS = 10_000;
/** Until the server is ready for the message: one that is given up before has not taken it. */
const DIALOG_MS = 60_000;
/** From then on: a server that has the message and is given up may have taken it, which then is sent twice (RFC 5321, 4.5.3.2.6). */
const ANSWER_MS = 600_000;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Sends mail by an SMTP server (RFC 5321), by TLS except where that server is on loopback (RFC 8314). */
export class SmtpSender implements MailSender {
  private readonly transport: Transporter;
  /** What to do when the server is ready for a message, by its Message-ID. */
  private readonly begun = new Map<string, () => void>();
  private readonly underWay = new Set<AbortController>();

  /**
   * @param url `smtps://user:password@host:port`; `smtp://` upgrades by STARTTLS.
   * @param from the sender's address.
   * @param limits milliseconds: until the server is ready for the message, and from then on.
   */
  constructor(
    url: string,
    private readonly from: string,
    private readonly limits = { dialogMs: DIALOG_MS, answerMs: ANSWER_MS },
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
      // Longer than the whole of it: `send` has the limits.
      socketTimeout: limits.dialogMs + limits.answerMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    this.transport.use('stream', ({ data, message }, done) => {
      message.processFunc((whole) => readLate(whole, () => this.begun.get(String(data.messageId))?.()));
      done();
    });
  }

  async send({ id, to, subject, text }: DueMail): Promise<void> {
    const messageId = messageIdOf(id, this.from);
    const givenUp = new AbortController();
    this.underWay.add(givenUp);
    const giveUp = (): void => givenUp.abort();
    let timer = setTimeout(giveUp, this.limits.dialogMs);
    this.begun.set(messageId, () => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, this.limits.answerMs);
    });
    try {
      await this.transport.sendMail({ from: this.from, to, subject, text, messageId, signal: givenUp.signal });
    } catch (error) {
      const failure = error as SmtpFailure;
      // Never the error itself, nor as a cause: it would be logged with the recipient's address.
      throw isFinal(failure) ? new MailRefused(sentenceOf(failure)) : new Error(sentenceOf(failure));
    } finally {
      clearTimeout(timer);
      this.begun.delete(messageId);
      this.underWay.delete(givenUp);
    }
  }

  close(): void {
    for (const sending of this.underWay) sending.abort();
    this.transport.close();
  }
}

/** The same text, of which nothing is read before it is to be sent. @param onRead called when that begins. */
function readLate(text: Readable, onRead: () => void): Readable {
  return Readable.from(
    (async function* () {
      onRead();
      yield* text;
    })(),
  );
}

/** The same for each try of a mail (RFC 5322, 3.6.4). */
export function messageIdOf(id: string, from: string): string {
  return `<${id}@${/@([^>@]+)>?$/.exec(from)?.[1] ?? 'localhost'}>`;
}
