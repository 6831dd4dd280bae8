import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { NoticeHistory } from '../load';
import { verdictOf, type Verdict } from '../verdict-of';

interface DeliveryRow {
  day: string;
  state: string;
  usage_sha256: Buffer | null;
  ledger_sha256: Buffer | null;
}

/** Wait until keys have their notices and days are written. What waits for another attempt is made due. */
export async function drainNotices(client: pg.Client, { keys }: NoticeHistory, limitMs: number): Promise<void> {
  const until = Date.now() + limitMs;
  while (Date.now() < until) {
    const { rowCount: days } = await client.query(
      `UPDATE export_deliveries SET due_at = now() WHERE state = 'pending'`,
    );
    const { rows } = await client.query(
      `SELECT FROM api_keys WHERE id = ANY ($1::uuid[]) AND expiry_notice_days IS NULL LIMIT 1`,
      [[...keys]],
    );
    if (days === 0 && rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

/** What must hold of events of the account, each of which is made by the statement of what it is about. */
export async function noticeVerdicts(
  client: pg.Client,
  accountId: string,
  { keys, deployments, warnings }: NoticeHistory,
): Promise<Verdict[]> {
  const { rows: messages } = await client.query<{ type: string; subject: string | null; created_at: Date }>(
    `SELECT m.type, m.data ->> 'id' AS subject, m.created_at FROM webhook_messages m
     JOIN webhook_endpoints e ON e.id = m.endpoint_id WHERE e.account_id = $1 AND m.job_id IS NULL AND m.batch_id IS NULL`,
    [accountId],
  );
  const { rows: alerts } = await client.query<{ alerted_at: Date }>(
    `SELECT alerted_at FROM balances WHERE account_id = $1 AND alerted_at IS NOT NULL`,
    [accountId],
  );
  const low = messages.filter(({ type }) => type === 'credits.low').map(({ created_at: at }) => at.getTime());
  const once = (type: string, subjects: Set<string>): Verdict => {
    const counts = new Map<string, number>();
    for (const message of messages.filter((sent) => sent.type === type)) {
      counts.set(message.subject ?? '', (counts.get(message.subject ?? '') ?? 0) + 1);
    }
    const wrong = [...subjects].filter((id) => counts.get(id) !== 1);
    const detail = (id: string): string => `has ${counts.get(id) ?? 0} messages`;
    return verdictOf(
      `${type} is a message, once`,
      subjects.size,
      wrong.map((subject) => ({ subject, detail: detail(subject) })),
    );
  };
  return [
    once('key.expiring', keys),
    once('deployment.stopped', deployments),
    verdictOf('credits.low is a message, once', warnings, [
      ...(low.length < warnings
        ? [{ subject: accountId, detail: `was due ${warnings} warnings, and has ${low.length}` }]
        : []),
      ...alerts
        .filter(({ alerted_at: at }) => low.filter((sent) => sent === at.getTime()).length !== 1)
        .map(({ alerted_at: at }) => ({
          subject: accountId,
          detail: `the warning of ${at.toISOString()} is no message`,
        })),
    ]),
  ];
}

/**
 * What must hold of days that were asked for: each is written, and its files are those whose bytes were recorded. The S3 server of the run
 * keeps objects as files.
 */
export async function exportVerdict(
  client: pg.Client,
  accountId: string,
  { days }: NoticeHistory,
  folder: string,
): Promise<Verdict> {
  const { rows } = await client.query<DeliveryRow>(
    `SELECT to_char(day, 'YYYY-MM-DD') AS day, state, usage_sha256, ledger_sha256 FROM export_deliveries
     WHERE account_id = $1 AND day IS NOT NULL`,
    [accountId],
  );
  const known = new Set(rows.map(({ day }) => day));
  const lost = [...days].filter((day) => !known.has(day)).map((subject) => ({ subject, detail: 'was asked for' }));
  const home = readdirSync(join(folder, 's3', 'data')).map((bucket) => join(folder, 's3', 'data', bucket));
  const files = (name: string): (Buffer | null)[] =>
    home.map((bucket) => digestOf(join(bucket, 'exports', accountId, 'books', name)));
  const wrong = rows.flatMap((row) => {
    if (row.state !== 'delivered') return [{ subject: row.day, detail: `is ${row.state}` }];
    return (['usage', 'ledger'] as const).flatMap((dataset) => {
      const recorded = row[`${dataset}_sha256`];
      const isThere = files(`${dataset}/${row.day}.csv.gz`).some(
        (digest) => digest !== null && recorded?.equals(digest),
      );
      return isThere ? [] : [{ subject: row.day, detail: `its file of ${dataset} is not there as it was recorded` }];
    });
  });
  return verdictOf('a day that was asked for is delivered', rows.length, [...lost, ...wrong]);
}

function digestOf(file: string): Buffer | null {
  try {
    return createHash('sha256').update(readFileSync(file)).digest();
  } catch {
    return null;
  }
}
