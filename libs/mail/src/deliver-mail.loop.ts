import type { Statements } from '@millrace/database';
import { type Logger, type Loop, type LoopReport } from '@millrace/platform';
import { MailRefused, type MailSender } from './mail';
import type { MailOutbox } from './mail-outbox';
import type { ClaimedMail, MailOutboxStore } from './mail-outbox.store';

/** Mails of this process that are sent at once: each has a connection of its own, of which mail servers allow a client some dozens. */
const AT_ONCE = 10;
/** Renewed while the mail server takes its time; of a process that died its mails are sent after this. */
const LEASE_SECONDS = 120;
const RENEW_MS = 30_000;
const FIRST_WAIT_SECONDS = 5;
const LONGEST_WAIT_SECONDS = 900;
/** How long a run waits for the mails that it began; what takes longer goes on beside later runs. */
const RUN_MS = 1_000;
/** How long a process that stops waits for mails under way. What is given up then is sent again. */
const CLOSE_MS = 5_000;

/**
 * Sends mails that are due, at least once: a process that dies between the mail server's answer and the deletion has it sent again,
 * under the same Message-ID. What fails is tried again, later each time, until it is of no use any more. A mail that the server takes its time
 * for delays neither the others nor the stop of its process.
 */
export class DeliverMailLoop implements Loop {
  readonly name = 'deliver-mail';
  readonly everyMs = 500;
  readonly everywhere = true;

  private readonly underWay = new Set<Promise<boolean>>();

  /** @param limits milliseconds: how long a run waits for what it began, and `close` for all that is under way. */
  constructor(
    private readonly database: Statements,
    private readonly store: MailOutboxStore,
    private readonly outbox: Pick<MailOutbox, 'open'>,
    private readonly sender: MailSender,
    private readonly logger: Logger,
    private readonly limits = { runMs: RUN_MS, closeMs: CLOSE_MS },
  ) {}

  async runOnce(report?: LoopReport): Promise<number> {
    const room = AT_ONCE - this.underWay.size;
    if (room <= 0) return 0;
    const claimed = await this.store.claim(this.database, room, LEASE_SECONDS);
    let done = 0;
    const begun = claimed.map(async (mail) => {
      if (await this.begin(mail, report)) done += 1;
    });
    await settled(begun, this.limits.runMs);
    return done;
  }

  /** Wait for what is under way, for some seconds, and give the rest up. No run begins once this is called. */
  async close(): Promise<void> {
    await settled([...this.underWay], this.limits.closeMs);
    this.sender.close();
    // What was given up has its pause written before the database is closed.
    await Promise.all(this.underWay);
  }

  private begin(claimed: ClaimedMail, report: LoopReport | undefined): Promise<boolean> {
    const sending = this.send(claimed, report).catch((error: unknown) => {
      this.logger.warn({ err: error, mail: claimed.id }, 'what came of a mail was not recorded; it is sent again');
      return false;
    });
    this.underWay.add(sending);
    return sending.finally(() => this.underWay.delete(sending));
  }

  private async send(claimed: ClaimedMail, report: LoopReport | undefined): Promise<boolean> {
    const { id, sealed, attempts } = claimed;
    try {
      await this.holding(claimed, () => this.sender.send({ id, ...this.outbox.open(id, sealed) }));
    } catch (error) {
      if (!(error instanceof MailRefused)) {
        const waitSeconds = Math.min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** Math.min(attempts - 1, 20));
        await this.store.postpone(this.database, claimed, waitSeconds);
        report?.failed(id, error);
        return false;
      }
      this.logger.warn({ err: error, mail: id }, 'the mail server refused a mail, which is not sent again');
    }
    await this.store.delete(this.database, claimed);
    return true;
  }

  /** Renew the lease while something goes on. No renewal is under way when it returns: one would overwrite the pause that is written next. */
  private async holding(claimed: ClaimedMail, act: () => Promise<void>): Promise<void> {
    const renewals: Promise<void>[] = [];
    const timer = setInterval(() => renewals.push(this.renew(claimed)), RENEW_MS);
    try {
      await act();
    } finally {
      clearInterval(timer);
      await Promise.all(renewals);
    }
  }

  /** Never rejects. */
  private async renew(claimed: ClaimedMail): Promise<void> {
    try {
      await this.store.postpone(this.database, claimed, LEASE_SECONDS);
    } catch (error) {
      this.logger.warn({ err: error, mail: claimed.id }, 'the lease of a mail could not be renewed');
    }
  }
}

/** Wait until all have settled, so many milliseconds at most. None of them may reject. */
async function settled(all: readonly Promise<unknown>[], limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([Promise.all(all), over]);
  clearTimeout(timer);
}
