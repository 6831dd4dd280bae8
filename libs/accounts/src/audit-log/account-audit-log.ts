import { isUuid } from '@millrace/contracts';
import { decodeCursor, pageOf, type Page, type Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import type { AuditEntry } from './audit-log';
import type { AccountAuditFilter, AuditLogStore } from './audit-log.store';

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

  constructor(
    private readonly database: Statements,
    private readonly store: AuditLogStore,
  ) {}

  /**
   * A page of the account's log, newest first.
   *
   * @throws Refusal `invalid_cursor`.
   */
  async list(
    accountId: string,
    filter: AccountAuditFilter,
    page: { cursor: string | null; limit: number },
  ): Promise<Page<AuditEntry>> {
    const before = page.cursor === null ? null : decodeCursor(CURSOR, page.cursor, isUuid);
    const place = { before, after: null, limit: page.limit + 1 };
    const entries = await this.store.listOfAccount(this.database, accountId, filter, place);
    return pageOf(CURSOR, entries, page.limit, ({ id }) => id);
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
    for (let after: string | null = NO_ID; after !== null;) {
      const place = { before: null, after, limit: PAGE };
      const entries: AuditEntry[] = await this.store.listOfAccount(this.database, accountId, filter, place);
      if (entries.length > 0) yield entries;
      after = entries.length < PAGE ? null : (entries.at(-1)?.id ?? null);
    }
  }
}

/** Before the first entry. */
const NO_ID = '00000000-0000-0000-0000-000000000000';
