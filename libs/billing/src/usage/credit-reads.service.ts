import { decodeCursor, pageOf, type Page, type Statements } from '@millrace/database';
import type { Balance, LedgerPosition, LedgerReadsStore, LedgerRecord, LedgerStore, Statement } from '../ledger';
import type { UsageGrouping, UsageReport } from './usage';
import type { UsageStore } from './usage.store';

const CURSOR = 'ledger';
const POSITION = /^\d{1,14} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Everything that an account can read of its credits. */
export class CreditReads {
  constructor(
    private readonly database: Statements,
    private readonly ledger: LedgerStore,
    private readonly reads: LedgerReadsStore,
    private readonly usageStore: UsageStore,
  ) {}

  balance(accountId: string): Promise<Balance> {
    return this.ledger.balance(this.database, accountId);
  }

  /**
   * A page of the ledger, the latest first.
   *
   * @throws Refusal `invalid_cursor`.
   */
  async ledgerPage(
    accountId: string,
    { cursor, limit }: { cursor: string | null; limit: number },
  ): Promise<Page<LedgerRecord>> {
    const after = cursor === null ? null : positionOf(decodeCursor(CURSOR, cursor, (text) => POSITION.test(text)));
    const records = await this.reads.page(this.database, accountId, after, limit + 1);
    return pageOf(CURSOR, records, limit, ({ at, id }) => `${at.getTime()} ${id}`);
  }

  /** The sums of a span, usually a month. */
  statement(accountId: string, span: { from: Date; to: Date }): Promise<Statement> {
    return this.reads.statement(this.database, accountId, span);
  }

  /** Use by jobs that ended in [from, to). */
  usage(accountId: string, span: { from: Date; to: Date }, grouping: UsageGrouping): Promise<UsageReport> {
    return this.usageStore.report(this.database, accountId, span, grouping);
  }
}

function positionOf(text: string): LedgerPosition {
  const [at, id = ''] = text.split(' ');
  return { at: new Date(Number(at)), id };
}
