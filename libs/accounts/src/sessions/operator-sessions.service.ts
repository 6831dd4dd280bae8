import { createHash } from 'node:crypto';
import type { Database } from '@millrace/database';
import type { AuditLog, Operator } from '../audit-log';
import type { FailedAttempts } from '../failed-attempts';
import { KnownSecrets } from '../known-secrets';
import { noSession } from './console-session';
import type { NamedOperator, OperatorSession, OperatorSessionStore } from './operator-session.store';
import type { SecretMint } from './secret-mint';

/** An operator's session reaches every account: it is short, and no use prolongs it. */
const LIFE_SECONDS = 3_600;

/** Which operators are signed in to their console. Signing in and out are in the audit log. */
export class OperatorSessionsService {
  private readonly known: KnownSecrets;

  /** @param adminToken the shared one, if there is one: with another, all sessions end. */
  constructor(
    private readonly database: Database,
    private readonly sessions: OperatorSessionStore,
    private readonly mint: SecretMint,
    private readonly audit: AuditLog,
    private readonly failures: FailedAttempts,
    private readonly adminToken: string | undefined,
  ) {
    this.known = new KnownSecrets(failures, { countsLookUps: true });
  }

  /**
   * Sign an operator in. The secret is what the browser keeps: it is shown now and never again.
   *
   * @param named null for who proved the shared admin token.
   */
  async open(operator: Operator, named: NamedOperator | null): Promise<OperatorSession & { secret: string }> {
    const secret = this.mint.make();
    return this.audit.record(operator, async (tx, note) => {
      const session = await this.sessions.create(tx, this.hash(secret), named, LIFE_SECONDS);
      note({ ...actOn(session.id, 'create'), details: { expiresAt: session.expiresAt.toISOString() } });
      return { ...session, secret };
    });
  }

  /**
   * The session of a secret, read each time: one that was ended is refused at once. What someone made up is refused without a
   * lookup, and counts as a failed authentication of its network; a session that has ended does when it is looked up.
   *
   * @throws Refusal 401 `unauthorized`, 429 `rate_limited`.
   */
  async authenticate(secret: string, network: string): Promise<OperatorSession> {
    const refusal = noSession();
    if (!this.mint.made(secret)) throw this.failures.refusal(network, refusal.message);
    const bytes = this.hash(secret);
    const load = (): Promise<OperatorSession | null> => this.sessions.find(this.database, bytes);
    const session = await this.known.find({ hash: bytes.toString('base64'), isOurs: true, network, load });
    if (session === null) throw refusal;
    return session;
  }

  /** Sign out. */
  async end(operator: Operator, id: string): Promise<void> {
    await this.audit.record(operator, async (tx, note) => {
      await this.sessions.delete(tx, id);
      note(actOn(id, 'end'));
    });
  }

  /** With the admin token in it. The secret has 256 random bits, so the hash says nothing of the token. */
  private hash(secret: string): Buffer {
    return createHash('sha256')
      .update(`${secret}\n${this.adminToken ?? ''}`)
      .digest();
  }
}

function actOn(
  id: string,
  verb: 'create' | 'end',
): { action: string; subjectType: string; subjectId: string; accountId: null } {
  return { action: `operator_session.${verb}`, subjectType: 'operator_session', subjectId: id, accountId: null };
}
