import type { z } from 'zod';
import {
  csvRows,
  csvText,
  type Balance,
  type LedgerRecord,
  type Statement,
  type UsageReport,
  type UsageRow,
} from '@millrace/billing';
import type { BalanceSchema, LedgerPageSchema, StatementSchema, UsageSchema } from './credits.schemas';

type Transaction = z.output<typeof LedgerPageSchema>['transactions'][number];
type Usage = z.output<typeof UsageSchema>;

/** What credits look like on the wire. Sums stay far below 2^53 micro-credits, nine billion credits. */
export function presentBalance({ availableMicros, heldMicros }: Balance): z.output<typeof BalanceSchema> {
  return { available_micros: Number(availableMicros), held_micros: Number(heldMicros) };
}

export function presentTransaction(record: LedgerRecord): Transaction {
  return {
    id: record.id,
    at: record.at.toISOString(),
    kind: record.kind,
    available_micros: Number(record.availableMicros),
    held_micros: Number(record.heldMicros),
    job_id: record.jobId,
    corrects: record.corrects,
    reason: record.reason,
    expires_at: record.expiresAt?.toISOString() ?? null,
  };
}

const presentUse = ({ jobs, billableMs, chargedMicros }: Omit<UsageRow, 'group'>): Usage['total'] => ({
  jobs,
  billable_ms: Number(billableMs),
  charged_micros: Number(chargedMicros),
});

export function presentUsage(report: UsageReport, asked: { from: Date; to: Date; groupBy: string }): Usage {
  return {
    usage: report.rows.map((row) => ({ group: row.group, ...presentUse(row) })),
    total: presentUse(report.total),
    from: asked.from.toISOString(),
    to: asked.to.toISOString(),
    group_by: asked.groupBy,
    truncated: report.truncated,
  };
}

/** A row per group, under the name of what they are grouped by. The header comes with the first page, so that an error before it can be answered. */
export async function* usageCsv(pages: AsyncIterable<UsageRow[]>, groupBy: string): AsyncGenerator<string> {
  let header = csvRows([[groupBy, 'jobs', 'billable_ms', 'charged_micros']]);
  for await (const rows of pages) {
    yield header + csvRows(rows.map((row) => [row.group, row.jobs, row.billableMs, row.chargedMicros]));
    header = '';
  }
}

export function presentStatement(month: string, statement: Statement): z.output<typeof StatementSchema> {
  return {
    month,
    final: statement.final,
    opening_balance_micros: Number(statement.openingMicros),
    grants_micros: Number(statement.grantsMicros),
    top_ups_micros: Number(statement.topUpsMicros),
    charges_micros: Number(statement.chargesMicros),
    expiries_micros: Number(statement.expiriesMicros),
    corrections_micros: Number(statement.correctionsMicros),
    closing_balance_micros: Number(statement.closingMicros),
  };
}

/** A line per movement, from the opening to the closing balance. */
export function statementCsv(month: string, statement: Statement): string {
  return csvText(
    ['month', 'line', 'amount_micros'],
    linesOf(statement).map(([name, amount]) => [month, name, amount]),
  );
}

function linesOf(statement: Statement): [string, bigint][] {
  return [
    ['opening_balance', statement.openingMicros],
    ['grants', statement.grantsMicros],
    ['top_ups', statement.topUpsMicros],
    ['charges', statement.chargesMicros],
    ['expiries', statement.expiriesMicros],
    ['corrections', statement.correctionsMicros],
    ['closing_balance', statement.closingMicros],
  ];
}
