import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { MailOutboxStore } from './mail-outbox.store';

const BATCH = 1_000;

/** Deletes mails that are of no use any more, with the addresses in them: also where no mail is sent now. */
export class SweepMailLoop implements Loop {
  readonly name = 'sweep-mail';
  readonly everyMs = 10_000;

  constructor(
    private readonly database: Statements,
    private readonly store: Pick<MailOutboxStore, 'deleteExpired'>,
  ) {}

  runOnce(): Promise<number> {
    return this.store.deleteExpired(this.database, BATCH);
  }
}
