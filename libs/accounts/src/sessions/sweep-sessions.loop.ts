import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { OperatorSessionStore } from './operator-session.store';
import type { SessionStore } from './session.store';
import type { SignInLinkStore } from './sign-in-link.store';

const BATCH = 1_000;

/** Deletes sessions of consoles and sign-in links that have expired, and invitations. None of them lets anyone in meanwhile. */
export class SweepSessionsLoop implements Loop {
  readonly name = 'sweep-sessions';
  readonly everyMs = 600_000;

  constructor(
    private readonly database: Statements,
    private readonly sessions: Pick<SessionStore, 'deleteExpired'>,
    private readonly links: Pick<SignInLinkStore, 'deleteExpired'>,
    private readonly operators: Pick<OperatorSessionStore, 'deleteExpired'>,
    private readonly invitations: { deleteExpired(tx: Statements, batch: number): Promise<number> },
  ) {}

  async runOnce(): Promise<number> {
    const links = await this.links.deleteExpired(this.database, BATCH);
    const operators = await this.operators.deleteExpired(this.database, BATCH);
    const invitations = await this.invitations.deleteExpired(this.database, BATCH);
    return links + operators + invitations + (await this.sessions.deleteExpired(this.database, BATCH));
  }
}
