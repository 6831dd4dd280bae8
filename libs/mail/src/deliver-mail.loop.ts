import type { Statements } from '@millrace/database';
import { type Logger, type Loop, type LoopReport } from '@millrace/platform';
import { MailRefused, type MailSender } from './mail';
import type { MailOutbox } from './mail-outbox';
import type { ClaimedMail, MailOutboxStore } from './mail-outbox.store';

const BATCH = 10;
/** Renewed while the mail server takes its time; of a process that died its mails are sent after this. */
const LEASE_SECONDS = 120;
const RENEW_MS = 30_000;
const FIRST_WAIT_SECONDS = 5;
const LONGEST_WAIT_SECONDS = 900;

/**
 * Sends mails that are due, at least once: a process that dies between the mail server's answer and the deletion has it sent again,
 * under the same Message-ID. What fails is tried again, later each time, until it is of no use any more.
 */
export class DeliverMailLoop implements Loop {
  readonly name = 'deliver-mail';
  readonly everyMs = 500;
  readonly everywhere = true;

  constructor(
    private readonly database: Statements,
    private readonly store: MailOutboxStore,
    private readonly outbox: Pick<MailOutbox, 'open'>,
    private readonly sender: MailSender,
    private readonly logger: Logger,
  ) {}

  async runOnce(report?: LoopReport): Promise<number> {
    const claimed = await this.store.claim(this.database, BATCH, LEASE_SECONDS);
    const done = await Promise.all(claimed.map((mail) => this.send(mail, report)));
    return done.filter((isDone) => isDone).length;
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
