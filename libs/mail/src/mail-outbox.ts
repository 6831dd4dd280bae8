import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { Sealer, type KeyRing } from '@millrace/platform';
import type { Mail } from './mail';
import type { MailOutboxStore } from './mail-outbox.store';

/**
 * Mails that are to be sent, recorded in the transaction that causes them: neither exists without the other. A maintenance process sends
 * them. They hold links that sign in, so that the database has them sealed.
 */
export class MailOutbox {
  private readonly sealer: Sealer;

  constructor(
    private readonly store: MailOutboxStore,
    ring: KeyRing,
    /** Whether a maintenance process has where to send mail to. */
    readonly isOpen: boolean,
  ) {
    this.sealer = new Sealer(ring, 'mail');
  }

  /**
   * Have a mail sent.
   *
   * @param accountId the account that it is about; with the account it goes.
   * @param lifeSeconds after which it is of no use, and is not sent any more.
   */
  async add(tx: Statements, accountId: string, mail: Mail, lifeSeconds: number): Promise<void> {
    const id = newId();
    const sealed = this.sealer.seal(JSON.stringify(mail), [id]);
    await this.store.insert(tx, { id, accountId, sealed, lifeSeconds });
  }

  /** What a sealed mail says. @throws when its key is not in the ring. */
  open(id: string, sealed: Buffer): Mail {
    return JSON.parse(this.sealer.open(sealed, [id], '')) as Mail;
  }
}
