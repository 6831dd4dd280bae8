import { Refusal } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { AuditLog, Operator } from '../audit-log';
import { assertActive } from '../caller';
import type { FailedAttempts } from '../failed-attempts';
import { CachedHolders } from '../known-secrets';
import {
  hashSession,
  noSession,
  type ConsoleSession,
  type ListedSession,
  type OpenedSession,
  type SessionGrant,
  type SessionHolder,
  type SessionPlace,
  type SessionsOf,
} from './console-session';
import type { SecretMint } from './secret-mint';
import type { SessionStore } from './session.store';

/** A session that was ended is refused everywhere within 5 s, as a revoked key is. */
const SESSION_TTL_MS = 3_000;
/** Of one account, and of these of one member with all their keys, or of one key of the account. */
const MOST_SESSIONS = { ofAccount: 1_000, ofHolder: 50 };

/** Who is signed in to the console. Signing in, and signing out everywhere, are in the audit log. */
export class SessionsService {
  private readonly holders: CachedHolders<SessionHolder>;

  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly mint: SecretMint,
    private readonly audit: AuditLog,
    private readonly failures: FailedAttempts,
    private readonly lifeSeconds: number,
  ) {
    this.holders = new CachedHolders(failures, {
      load: (hash) => sessions.findHolder(database, Buffer.from(hash, 'base64')),
      ttlMs: SESSION_TTL_MS,
      countsLookUps: true,
    });
  }

  /**
   * Sign in.
   *
   * @param grantOf as whom, found out in the transaction that makes the session; what it throws is thrown.
   * @throws Refusal `unauthorized` when the grant counts in another place, or its key has ended meanwhile; `forbidden` for a suspended
   * account.
   */
  async open(
    operator: Operator,
    place: SessionPlace,
    grantOf: (tx: Statements) => Promise<SessionGrant>,
  ): Promise<OpenedSession> {
    const secret = this.mint.make();
    return this.audit.record(operator, async (tx, note) => {
      const grant = await grantOf(tx);
      const { accountId, apiKeyId } = grant;
      const isPlace = (apiKeyId !== null) === (place.by === 'keys');
      const id = isPlace ? await this.sessions.create(tx, grant, hashSession(secret, place), this.lifeSeconds) : null;
      const session = id === null ? null : await this.sessions.find(tx, id);
      if (session === null) {
        if (await this.sessions.isSuspended(tx, accountId)) assertActive({ accountStatus: 'suspended' });
        throw new Refusal('unauthorized', 'Nobody can sign in with this here: the key has ended, or counts elsewhere.');
      }
      await this.sessions.keepNewest(tx, accountId, MOST_SESSIONS);
      const details = { apiKeyId, expiresAt: session.expiresAt.toISOString() };
      note({ action: 'session.create', subjectType: 'session', subjectId: session.id, accountId, details });
      return { ...session, secret };
    });
  }

  /**
   * Who presents a session, mostly from the cache. What someone made up counts as a failed authentication of its network each time; a
   * session that has ended does when it is looked up.
   *
   * @throws Refusal 401 `unauthorized`, 429 `rate_limited`.
   */
  async authenticate(secret: string, place: SessionPlace, network: string): Promise<SessionHolder> {
    const refusal = noSession();
    if (!this.mint.made(secret)) throw this.failures.refusal(network, refusal.message);
    const hash = hashSession(secret, place).toString('base64');
    const holder = await this.holders.find({ hash, isOurs: true, network });
    if (holder === null) throw refusal;
    return holder;
  }

  /** What a session says of itself. @throws Refusal `unauthorized` when it has ended. */
  async get(id: string): Promise<ConsoleSession> {
    const session = await this.sessions.find(this.database, id);
    if (session === null) throw noSession();
    return session;
  }

  /** Which of these sessions have ended, or belong to a suspended account. */
  async findEnded(ids: readonly string[]): Promise<Set<string>> {
    return new Set(ids.length === 0 ? [] : await this.sessions.findEnded(this.database, ids));
  }

  /** Sign out. */
  async end(accountId: string, id: string): Promise<void> {
    await this.sessions.delete(this.database, { accountId }, id);
    this.forget();
  }

  /** Newest first. */
  async list(of: SessionsOf): Promise<ListedSession[]> {
    return this.sessions.list(this.database, of, MOST_SESSIONS.ofAccount);
  }

  /** End another session. @throws Refusal `not_found`. */
  async endOther(operator: Operator, of: SessionsOf, id: string): Promise<void> {
    await this.audit.record(operator, async (tx, note) => {
      if (!(await this.sessions.delete(tx, of, id))) throw new Refusal('not_found', `There is no session ${id}.`);
      note({ action: 'session.end', subjectType: 'session', subjectId: id, accountId: of.accountId });
    });
    this.forget();
  }

  /** Sign out everywhere. @param except the session that goes on; null: none does. */
  async endAll(operator: Operator, of: SessionsOf, except: string | null): Promise<void> {
    const { accountId } = of;
    await this.audit.record(operator, async (tx, note) => {
      const count = await this.sessions.deleteOf(tx, of, except);
      note({ action: 'session.end_all', subjectType: 'account', subjectId: accountId, accountId, details: { count } });
    });
    this.forget();
  }

  /** Look every session up again: this process ended one, or changed keys or accounts. */
  forget(): void {
    this.holders.forget();
  }
}
