import type { AuditLog, Operator, Owner, OwnerRights } from '@millrace/accounts';
import { Refusal, isUuid, newId, type ErasureSubject } from '@millrace/contracts';
import { decodeCursor, pageOf, type Database, type Page, type Statements } from '@millrace/database';
import type { Erasure } from './erasure';
import type { Erasers } from './erasure-steps';
import type { ErasureStore } from './erasure.store';

const CURSOR = 'erasures';
/** Erasures of jobs and labels that one account may have asked for and that are not done. */
const OPEN_PER_ACCOUNT = 1_000;
const RETRY_SECONDS = 60;

/** Requests for erasure. Who asked, and why, is in the audit log; a maintenance process carries them out. */
export class Erasures {
  constructor(
    private readonly database: Database,
    private readonly store: ErasureStore,
    private readonly sources: Pick<Erasers, 'accounts' | 'webhooks' | 'deployments'>,
    private readonly isJobKnown: (tx: Statements, accountId: string, jobId: string) => Promise<boolean>,
    private readonly audit: AuditLog,
    private readonly owners: Pick<OwnerRights, 'hold'>,
    /** Called when keys have ended: what this process has cached of them is wrong now. */
    private readonly onClose: () => void,
  ) {}

  /**
   * Ask for an erasure. What could make more of its subject ends at once: of an account all keys, sessions, webhooks and deployments, of
   * a label the sub-keys that carry it. To ask again while it is not done changes nothing.
   *
   * @param keyId the key that acts, an owner's where the subject is the account; null for an operator.
   * @returns the request, and whether it is a new one.
   * @throws Refusal `unauthorized` or `forbidden` for who is no owner now and asks for the account; `not_found` for an unknown job or account; `invalid_request` for an account that is the service's own;
   * `rate_limited` for one more job or label while a thousand erasures of the account are not done.
   */
  async request(
    { keyId, ...operator }: Owner,
    accountId: string,
    subject: ErasureSubject,
  ): Promise<{ erasure: Erasure; isNew: boolean }> {
    const id = newId();
    const requested = await this.audit.record(operator, async (tx, note) => {
      if (subject.kind === 'account' && keyId !== null) await this.owners.hold(tx, accountId, { keyId });
      await this.prepare(tx, accountId, subject);
      const pseudonym = `erased-${id.slice(-12)}`;
      const made = await this.store.insert(tx, { id, accountId, subject, pseudonym, requestedBy: operator.actor });
      if (made !== null && subject.kind !== 'account') await this.assertFew(tx, accountId);
      const erasure = made ?? (await this.store.findOpen(tx, accountId, subject));
      // It was done between the two statements.
      if (erasure === null) throw new Refusal('invalid_request', 'The same erasure has just been done; ask again.');
      // Never the value of a label: the log is kept longer than what is erased.
      const details = { subject: subject.kind, isNew: made !== null };
      note({ action: 'erasure.request', subjectType: 'erasure', subjectId: erasure.id, accountId, details });
      return { erasure, isNew: made !== null };
    });
    if (subject.kind !== 'job') this.onClose();
    return requested;
  }

  /**
   * Ask for an erasure that was carried out already, and that the database has forgotten with what it was restored from. What could make
   * more of its subject ends at once, as with a request.
   *
   * @returns false when the same is being carried out.
   */
  async askAgain(
    operator: Operator,
    {
      id,
      accountId,
      subject,
      pseudonym,
    }: Pick<Erasure, 'id' | 'accountId' | 'pseudonym'> & { subject: ErasureSubject },
  ): Promise<boolean> {
    const isAsked = await this.audit.record(operator, async (tx, note) => {
      await this.endSources(tx, accountId, subject);
      const made = await this.store.insert(tx, { id, accountId, subject, pseudonym, requestedBy: operator.actor });
      const details = { subject: subject.kind, isNew: made !== null };
      note({ action: 'erasure.reapply', subjectType: 'erasure', subjectId: id, accountId, details });
      return made !== null;
    });
    if (subject.kind !== 'job') this.onClose();
    return isAsked;
  }

  /** @param accountId null: of any account. @throws Refusal `not_found`. */
  async get(accountId: string | null, id: string): Promise<Erasure> {
    const erasure = await this.store.find(this.database, accountId, id);
    if (erasure === null) throw new Refusal('not_found', `There is no erasure ${id}.`);
    return erasure;
  }

  /** Newest first. @param accountId null: of all accounts. @throws Refusal `invalid_cursor`. */
  async list(
    accountId: string | null,
    { cursor, limit }: { cursor: string | null; limit: number },
  ): Promise<Page<Erasure>> {
    const before = cursor === null ? null : decodeCursor(CURSOR, cursor, isUuid);
    const rows = await this.store.list(this.database, accountId, { before, limit: limit + 1 });
    return pageOf(CURSOR, rows, limit, ({ id }) => id);
  }

  private async assertFew(tx: Statements, accountId: string): Promise<void> {
    if ((await this.store.countOpen(tx, accountId, OPEN_PER_ACCOUNT + 1)) <= OPEN_PER_ACCOUNT) return;
    const message = `${OPEN_PER_ACCOUNT} erasures of this account are not done, the most that may wait; ask again when some are done.`;
    throw new Refusal('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
  }

  private async prepare(tx: Statements, accountId: string, subject: ErasureSubject): Promise<void> {
    if (subject.kind === 'job' && !(await this.isJobKnown(tx, accountId, subject.jobId))) {
      throw new Refusal('not_found', `There is no job ${subject.jobId} of this account.`);
    }
    if (await this.endSources(tx, accountId, subject)) return;
    throw new Refusal('invalid_request', `${accountId} is no account of a customer; only such accounts are erased.`);
  }

  /**
   * End what could make more of what is erased, and of an account what is sent for it and what runs for it: the erasure itself may have to wait
   * for its note. What names somebody is forgotten after that.
   *
   * @returns false when it is an account that cannot be closed.
   */
  private async endSources(tx: Statements, accountId: string, subject: ErasureSubject): Promise<boolean> {
    const { accounts, webhooks, deployments } = this.sources;
    if (subject.kind === 'label') await accounts.revokeSubKeys(tx, accountId, subject);
    if (subject.kind !== 'account') return true;
    if (!(await accounts.close(tx, accountId))) return false;
    await webhooks.stopEndpoints(tx, accountId);
    await deployments.stopAll(tx, accountId);
    return true;
  }
}
