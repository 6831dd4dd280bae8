import { decodeCursor, pageOf, type Page, type Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import type { Balance, LedgerPosition, LedgerReadsStore, LedgerRecord, LedgerStore, Statement } from '../ledger';
import {
  USAGE_ROWS,
  type UsageGrouping,
  type UsageReport,
  type UsageRow,
  type UsageScope,
  type UsageTable,
} from './usage';
import { inTime } from './in-time';
import type { UsageStore } from './usage.store';

/** Of one account. A report over 300,000 jobs takes half a second of the database, on a machine with nothing else to do. */
const REPORTS_AT_A_TIME = 1;
const CURSOR = 'ledger';
const POSITION = /^\d{1,14} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Everything that an account can read of its credits. All but the balance is read in turn: `rate_limited` when too many wait. */
export class CreditReads {
  private readonly turns = new Turns(REPORTS_AT_A_TIME, 'reports');

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
   * @throws Refusal `invalid_cursor`, `rate_limited`.
   */
  async ledgerPage(
    accountId: string,
    { cursor, limit }: { cursor: string | null; limit: number },
  ): Promise<Page<LedgerRecord>> {
    const after = cursor === null ? null : positionOf(decodeCursor(CURSOR, cursor, (text) => POSITION.test(text)));
    const read = (): Promise<LedgerRecord[]> => this.reads.page(this.database, accountId, after, limit + 1);
    const records = await this.turns.run(accountId, read);
    return pageOf(CURSOR, records, limit, ({ at, id }) => `${at.getTime()} ${id}`);
  }

  /** The sums of a span, usually a month. @throws Refusal `rate_limited`. */
  statement(accountId: string, span: { from: Date; to: Date }): Promise<Statement> {
    return this.turns.run(accountId, () => this.reads.statement(this.database, accountId, span));
  }

  /** Use by jobs that ended in [from, to). @throws Refusal `rate_limited`; `invalid_request` where they are too many to be summed. */
  usage(scope: UsageScope, span: { from: Date; to: Date }, grouping: UsageGrouping): Promise<UsageReport> {
    const read = (): Promise<UsageReport> => this.usageStore.report(this.database, scope, span, grouping);
    return this.turns.run(scope.accountId, () => inTime(read, 'usage'));
  }

  /**
   * All groups of such use, in the order of their names, a page of them at a time: memory stays flat however many they are. A page reads the jobs of
   * the span that the pages before have not summed. Only the first waits for its turn with a bound: what was begun is not refused.
   *
   * @throws Refusal as `usage`, before the first page. Error before the last of several pages, where labels of jobs were changed meanwhile, so that
   * a job is in two groups or in none: what was read is no whole then.
   */
  async *usageGroups(
    scope: UsageScope,
    span: { from: Date; to: Date },
    grouping: UsageGrouping,
  ): AsyncGenerator<UsageRow[]> {
    const { accountId } = scope;
    const table = { scope, span, grouping, settledBefore: await this.usageStore.settledBefore(this.database) };
    const page = (after: string | null) => () => this.usageStore.groups(this.database, table, after);
    let rows = await this.turns.run(accountId, () => inTime(page(null), 'usage'));
    let settled = 0n;
    for (let pages = 1; ; pages += 1) {
      for (const row of rows) settled += row.settled;
      const last = rows.at(-1);
      const next = rows.length < USAGE_ROWS ? null : (last?.group ?? null);
      if (next === null && pages > 1) await this.turns.runAdmitted(accountId, () => this.holdWhole(table, settled));
      yield rows;
      if (next === null) return;
      rows = await this.turns.runAdmitted(accountId, page(next));
    }
  }

  private async holdWhole(table: UsageTable, settled: bigint): Promise<void> {
    if ((await this.usageStore.settled(this.database, table)) === settled) return;
    throw new Error(
      'labels of jobs were changed while the table of their usage was read, so it is not whole: ask again',
    );
  }
}

function positionOf(text: string): LedgerPosition {
  const [at, id = ''] = text.split(' ');
  return { at: new Date(Number(at)), id };
}
