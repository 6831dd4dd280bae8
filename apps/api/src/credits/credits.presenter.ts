import type { Balance, LedgerRecord, Statement, UsageReport, UsageRow } from '@millrace/billing';
import { csvText } from '@millrace/billing';

/** What credits look like on the wire. Sums stay far below 2^53 micro-credits, nine thousand million credits. */
export function presentBalance({ availableMicros, heldMicros }: Balance): object {
  return { available_micros: Number(availableMicros), held_micros: Number(heldMicros) };
}

export function presentTransaction(record: LedgerRecord): object {
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

const presentUse = ({ jobs, billableMs, chargedMicros }: Omit<UsageRow, 'group'>): object => ({
  jobs,
  billable_ms: Number(billableMs),
  charged_micros: Number(chargedMicros),
});

export function presentUsage(report: UsageReport, asked: { from: Date; to: Date; groupBy: string }): object {
  return {
    usage: report.rows.map((row) => ({ group: row.group, ...presentUse(row) })),
    total: presentUse(report.total),
    from: asked.from.toISOString(),
    to: asked.to.toISOString(),
    group_by: asked.groupBy,
    truncated: report.truncated,
  };
}

/** A row per group, under the name of what they are grouped by. */
export function usageCsv({ rows }: UsageReport, groupBy: string): string {
  const header = [groupBy, 'jobs', 'billable_ms', 'charged_micros'];
  return csvText(
    header,
    rows.map((row) => [row.group, row.jobs, row.billableMs, row.chargedMicros]),
  );
}

export function presentStatement(month: string, statement: Statement): object {
  const amounts: Record<string, number> = {};
  for (const [name, amount] of linesOf(statement)) amounts[`${name}_micros`] = Number(amount);
  return { month, final: statement.final, ...amounts };
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
