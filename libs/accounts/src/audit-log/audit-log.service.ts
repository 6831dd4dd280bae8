import { isUuid } from '@millrace/contracts';
import {
  decodeCursor,
  encodeCursor,
  repeatUndone,
  type Database,
  type Page,
  type Statements,
} from '@millrace/database';
import { listEntries } from './audit-list.store';
import type { Act, AuditEntry, AuditFilter, Operator } from './audit-log';
import type { AuditLogStore } from './audit-log.store';

/** Records what an act was, once it is known. */
export type NoteAct = (act: Act) => void;

const CURSOR = 'audit-log';
/** What happens again and again, such as reads of a page that stays open: one entry an hour says it. */
const NOTED_SECONDS = 3_600;

/** The log of administrative acts. */
export class AuditLog {
  constructor(
    private readonly database: Database,
    private readonly store: AuditLogStore,
  ) {}

  /**
   * Do an administrative act and record it, in one transaction: neither exists without the other.
   *
   * @param work makes its writes through `tx` and notes each act, and does nothing else that counts twice: it is called again where PostgreSQL
   * undid what it wrote (`repeatUndone`). What it throws undoes all of it.
   * @throws what `work` throws; an Error when it noted nothing, which undoes its writes too.
   */
  async record<T>(operator: Operator, work: (tx: Statements, note: NoteAct) => Promise<T>): Promise<T> {
    return repeatUndone(() => this.database.transaction((tx) => this.recordIn(tx, operator, work)));
  }

  private async recordIn<T>(
    tx: Statements,
    operator: Operator,
    work: (tx: Statements, note: NoteAct) => Promise<T>,
  ): Promise<T> {
    const acts: Act[] = [];
    const result = await work(tx, (act) => acts.push(act));
    if (acts.length === 0) throw new Error('an administrative act noted nothing for the audit log');
    for (const act of acts) await this.store.append(tx, operator, act);
    return result;
  }

  /** Record an act in the transaction that does it. */
  async append(tx: Statements, operator: Operator, act: Act): Promise<void> {
    await this.store.append(tx, operator, act);
  }

  /**
   * Record what changes nothing, such as that an operator read what is a customer's: of each subject once an hour at most for the same reason,
   * however many do it at once.
   *
   * @param acts of one action, on different subjects
   */
  async noteOnceAnHour(operator: Operator, acts: readonly Act[]): Promise<void> {
    const isNew = await this.unnoted(this.database, operator, acts);
    if (isNew.length === 0) return;
    await this.database.transaction(async (tx) => {
      await this.store.lockActor(tx, operator);
      for (const act of await this.unnoted(tx, operator, isNew)) await this.store.append(tx, operator, act);
    });
  }

  private async unnoted(tx: Statements, operator: Operator, acts: readonly Act[]): Promise<Act[]> {
    const noted = new Set(await this.store.listRecent(tx, operator, acts, NOTED_SECONDS));
    return acts.filter(({ subjectId }) => !noted.has(subjectId));
  }

  /**
   * A page of the log, newest first. It has fewer entries than `limit`, or none, where few of the many behind it match the filter.
   *
   * @throws Refusal `invalid_cursor`.
   */
  async list(filter: AuditFilter, page: { cursor: string | null; limit: number }): Promise<Page<AuditEntry>> {
    const before = page.cursor === null ? null : decodeCursor(CURSOR, page.cursor, isUuid);
    const { entries, last } = await listEntries(this.database, filter, { before, after: null, limit: page.limit });
    return { items: entries, ...(last !== null && { nextCursor: encodeCursor(CURSOR, last) }) };
  }
}
