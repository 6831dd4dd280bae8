import { isUuid } from '@millrace/contracts';
import { decodeCursor, encodeCursor, type Page, type Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import { listEntriesOfAccount, type AccountAuditFilter, type ListedEntries } from './audit-list.store';
import type { AuditEntry } from './audit-log';

const CURSOR = 'account-audit-log';
/** Entries of an export that are in memory at a time. */
const PAGE = 500;
/** Exports of one account. */
const EXPORTS_AT_A_TIME = 2;

/**
 * The audit log as an account reads its own: what concerns it, acts of operators among them, without their names and addresses.
 */
export class AccountAuditLog {
  private readonly turns = new Turns(EXPORTS_AT_A_TIME, 'exports of the audit log');

  constructor(private readonly database: Statements) {}

  /**
   * A page of the account's log, newest first. It has fewer entries than `limit`, or none, where few of the many behind it match the filter.
   *
   * @throws Refusal `invalid_cursor`.
   */
  async list(
    accountId: string,
    filter: AccountAuditFilter,
    page: { cursor: string | null; limit: number },
  ): Promise<Page<AuditEntry>> {
    const before = page.cursor === null ? null : decodeCursor(CURSOR, page.cursor, isUuid);
    const span = { before, after: null, limit: page.limit };
    const { entries, last } = await listEntriesOfAccount(this.database, accountId, filter, span);
    return { items: entries, ...(last !== null && { nextCursor: encodeCursor(CURSOR, last) }) };
  }

  /**
   * Have all entries written, oldest first. They are read page by page while they are written, so memory stays flat; what is
   * recorded meanwhile may be at the end.
   *
   * @param write takes the pages, and resolves when all of them are written.
   * @throws Refusal `rate_limited`.
   */
  async send(
    accountId: string,
    filter: AccountAuditFilter,
    write: (pages: AsyncIterable<AuditEntry[]>) => Promise<void>,
  ): Promise<void> {
    await this.turns.run(accountId, () => write(this.pages(accountId, filter)));
  }

  private async *pages(accountId: string, filter: AccountAuditFilter): AsyncGenerator<AuditEntry[]> {
    let after: string | null = null;
    do {
      const span = { before: null, after, limit: PAGE, oldestFirst: true };
      const page: ListedEntries = await listEntriesOfAccount(this.database, accountId, filter, span);
      if (page.entries.length > 0) yield page.entries;
      after = page.last;
    } while (after !== null);
  }
}
