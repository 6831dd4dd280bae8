import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { SessionStore } from './session.store';
import type { SignInLinkStore } from './sign-in-link.store';

const BATCH = 1_000;

/** Deletes console sessions and sign-in links that have expired. Neither lets anyone in meanwhile. */
export class SweepSessionsLoop implements Loop {
  readonly name = 'sweep-sessions';
  readonly everyMs = 600_000;

  constructor(
    private readonly database: Statements,
    private readonly sessions: Pick<SessionStore, 'deleteExpired'>,
    private readonly links: Pick<SignInLinkStore, 'deleteExpired'>,
  ) {}

  async runOnce(): Promise<number> {
    const links = await this.links.deleteExpired(this.database, BATCH);
    return links + (await this.sessions.deleteExpired(this.database, BATCH));
  }
}
