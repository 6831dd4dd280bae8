import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';

const BATCH = 1_000;

/** Something that expires. */
interface Expiring {
  deleteExpired(tx: Statements, batch: number): Promise<number>;
}

/**
 * Deletes sessions of consoles, sign-in links, requests for them, and invitations that have expired, and what counted their mails. None of
 * them lets anyone in meanwhile.
 */
export class SweepSessionsLoop implements Loop {
  readonly name = 'sweep-sessions';
  readonly everyMs = 600_000;

  constructor(
    private readonly database: Statements,
    private readonly stores: readonly Expiring[],
  ) {}

  async runOnce(): Promise<number> {
    let deleted = 0;
    for (const store of this.stores) deleted += await store.deleteExpired(this.database, BATCH);
    return deleted;
  }
}
