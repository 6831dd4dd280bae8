import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import { csvRows, inTime } from '../usage';
import { dayOf, daysWithin, type ExportDay } from './export-day';
import type { After, DayTotals, ExportStore } from './export.store';
import { LEDGER_HEADER, USAGE_HEADER, ledgerRow, usageRow } from './focus-rows';

export const DATASETS = ['usage', 'ledger'] as const;
export type Dataset = (typeof DATASETS)[number];

/** A day of an account, with what its files add up to. */
export interface DailyExport extends DayTotals {
  /** Its files can be read, and never change. */
  isComplete: boolean;
}

/** A day's file as it is made: its text in parts, and what the rows of the parts that were read add up to. */
export interface DayFile {
  readonly parts: AsyncIterable<string>;
  readonly sums: { rows: bigint; chargedMicros: bigint };
}

/** Rows that are in memory at a time. */
const PAGE = 1_000;
/** Downloads of one account. */
const DOWNLOADS_AT_A_TIME = 2;

/**
 * What an account used and how its credits moved, by day, for finance. A file is made from the books while it is read: pages in the order
 * of time, so memory stays flat, nothing has to be kept, and a read that broke off is repeated. A day is read once nothing more is
 * posted to it, so every read of it has the same rows.
 */
export class DailyExports {
  private readonly turns = new Turns(DOWNLOADS_AT_A_TIME, 'exports');

  /** @param at the time by which days are complete; null: PostgreSQL's. */
  constructor(
    private readonly database: Statements,
    private readonly store: ExportStore,
    readonly at: Date | null = null,
  ) {}

  /** The days that begin in a span, the latest first. @throws Refusal `rate_limited`; `invalid_request` where they have too much to be summed. */
  async list(accountId: string, from: Date, to: Date): Promise<DailyExport[]> {
    const days = daysWithin(from, to);
    const [last, first] = [days[0], days.at(-1)];
    if (last === undefined || first === undefined) return [];
    const span = { from: first.from, to: last.to };
    // Read before the sums: what is said to be complete has been so when they were read.
    const incomplete = await this.firstIncompleteDay();
    const read = (): Promise<DayTotals[]> => this.store.totals(this.database, accountId, span);
    const totals = await this.turns.run(accountId, () => inTime(read, 'usage and ledger'));
    const known = new Map(totals.map((total) => [total.day, total]));
    return days.map((day) => ({
      ...(known.get(day.day) ?? { day: day.day, usageRows: 0, usageMicros: 0n, ledgerRows: 0, ledgerMicros: 0n }),
      isComplete: day.day < incomplete,
    }));
  }

  /**
   * Have a day's file written as CSV (RFC 4180).
   *
   * @param write takes the parts of the text, and resolves when all of them are written.
   * @throws Refusal `not_found` for what is no day, or one that is not over; `rate_limited`.
   */
  async send(
    accountId: string,
    name: string,
    dataset: Dataset,
    write: (parts: AsyncIterable<string>) => Promise<void>,
  ): Promise<void> {
    const { parts } = await this.file(accountId, name, dataset);
    await this.turns.run(accountId, () => write(parts));
  }

  /** A day's file as CSV (RFC 4180), which is made as its parts are read. @throws Refusal `not_found` as `send` does. */
  async file(accountId: string, name: string, dataset: Dataset): Promise<DayFile> {
    const day = await this.completeDay(name);
    const sums = { rows: 0n, chargedMicros: 0n };
    const [header, rows] =
      dataset === 'usage'
        ? [USAGE_HEADER, this.usage(accountId, day, sums)]
        : [LEDGER_HEADER, this.ledger(accountId, day, sums)];
    return { parts: headed(csvRows([header]), rows), sums };
  }

  /** Days before it are complete: `yyyy-mm-dd`. */
  firstIncompleteDay(statements: Statements = this.database): Promise<string> {
    return this.store.firstIncompleteDay(statements, this.at);
  }

  private async completeDay(name: string): Promise<ExportDay> {
    const day = dayOf(name);
    if (day !== null && day.day < (await this.firstIncompleteDay())) return day;
    throw new Refusal(
      'not_found',
      `There is no export of ${name}: a day can be read ten minutes after it has ended (UTC).`,
    );
  }

  private async *usage(accountId: string, day: ExportDay, sums: DayFile['sums']): AsyncGenerator<string> {
    const page = (after: After | null) => this.store.usagePage(this.database, accountId, day, after, PAGE);
    for await (const lines of pages(page, ({ finishedAt, jobId }) => ({ at: finishedAt, id: jobId }))) {
      count(lines, sums);
      yield csvRows(lines.map((line) => usageRow(line, { accountId, day })));
    }
  }

  private async *ledger(accountId: string, day: ExportDay, sums: DayFile['sums']): AsyncGenerator<string> {
    const page = (after: After | null) => this.store.ledgerPage(this.database, accountId, day, after, PAGE);
    for await (const lines of pages(page, ({ at, id }) => ({ at, id }))) {
      count(lines, sums);
      yield csvRows(lines.map(ledgerRow));
    }
  }
}

function count(lines: readonly { chargedMicros: bigint }[], sums: DayFile['sums']): void {
  sums.rows += BigInt(lines.length);
  for (const { chargedMicros } of lines) sums.chargedMicros += chargedMicros;
}

/** The header comes with the first rows, so that nothing is sent before these have been read. */
async function* headed(header: string, rows: AsyncIterable<string>): AsyncGenerator<string> {
  let before = header;
  for await (const text of rows) {
    yield before + text;
    before = '';
  }
  if (before !== '') yield before;
}

async function* pages<Line>(
  read: (after: After | null) => Promise<Line[]>,
  placeOf: (line: Line) => After,
): AsyncGenerator<Line[]> {
  let after: After | null = null;
  for (;;) {
    const lines: Line[] = await read(after);
    const last = lines.at(-1);
    if (last === undefined) return;
    yield lines;
    if (lines.length < PAGE) return;
    after = placeOf(last);
  }
}
