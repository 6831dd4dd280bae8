import { Prisma } from '@prisma/client';
import type { ErasureSubject } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** What a page of the books came to. */
export interface BookPage {
  changed: number;
  /** Where the next page begins; null when this was the last. */
  place: string | null;
}

/** A page of usage records. */
export interface UsagePage extends BookPage {
  /**
   * The jobs that it was about and that are gone: other records of them may be left. One that is there was submitted with the label after the
   * jobs of the erasure had gone, and keeps what belongs to it.
   */
  jobIds: string[];
}

const FIRST = '-infinity 00000000-0000-0000-0000-000000000000';
const placeOf = (time: Prisma.Sql, id: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`concat_ws(' ', replace(${time}::text, ' ', 'T'), ${id})`;

/**
 * Takes from the books what names somebody. What was charged, when, and by which job, key and deployment stays: ids name nobody once
 * what they stood for is gone.
 */
export class BookErasureStore {
  /**
   * Labels of a page of usage records, in the order of time. Of a label its value becomes the pseudonym, so that sums stay what they
   * were; all other labels of those records go, since any of them may say who it was.
   */
  async forgetUsage(
    tx: Statements,
    accountId: string,
    subject: ErasureSubject,
    { pseudonym, place, limit }: { pseudonym: string; place: string | null; limit: number },
  ): Promise<UsagePage> {
    if (subject.kind === 'job') {
      return {
        changed: await this.forgetUsageOf(tx, accountId, subject.jobId),
        place: null,
        jobIds: [subject.jobId],
      };
    }
    const [since = '', id = ''] = (place ?? FIRST).split(' ');
    const [isOf, labels] = usageOf(subject, pseudonym);
    const [row] = await tx.rows<{ rows: number; changed: number; jobIds: string[]; place: string | null }>(Prisma.sql`
      WITH page AS (
        SELECT u.job_id, u.finished_at, u.labels FROM usage_records u
        WHERE u.account_id = ${accountId}::uuid AND (u.finished_at, u.job_id) > (${since}::timestamptz, ${id}::uuid)
        ORDER BY u.finished_at, u.job_id LIMIT ${limit}
      ), changed AS (
        UPDATE usage_records u SET labels = ${labels} FROM page p
        WHERE u.job_id = p.job_id AND u.labels <> '{}'::jsonb AND ${isOf} RETURNING u.job_id
      )
      SELECT (SELECT count(*) FROM page)::int AS rows, (SELECT count(*) FROM changed)::int AS changed,
        ARRAY(SELECT c.job_id FROM changed c WHERE NOT EXISTS (SELECT FROM jobs j WHERE j.id = c.job_id)) AS job_ids,
        (SELECT ${placeOf(Prisma.sql`finished_at`, Prisma.sql`job_id`)} FROM page ORDER BY finished_at DESC, job_id DESC LIMIT 1) AS place`);
    const { rows = 0, changed = 0, jobIds = [] } = row ?? {};
    return { changed, place: rows < limit ? null : (row?.place ?? null), jobIds };
  }

  private async forgetUsageOf(tx: Statements, accountId: string, jobId: string): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE usage_records SET labels = '{}'
      WHERE job_id = ${jobId}::uuid AND account_id = ${accountId}::uuid AND labels <> '{}'::jsonb`);
  }

  /** Why operators posted something to the account: a page of its transactions. */
  async forgetReasons(
    tx: Statements,
    accountId: string,
    { place, limit }: { place: string | null; limit: number },
  ): Promise<BookPage> {
    const [since = '', id = ''] = (place ?? FIRST).split(' ');
    const [row] = await tx.rows<{ rows: number; changed: number; place: string | null }>(Prisma.sql`
      WITH page AS (
        SELECT t.id, t.at FROM ledger_transactions t
        WHERE t.account_id = ${accountId}::uuid AND (t.at, t.id) > (${since}::timestamptz, ${id}::uuid)
        ORDER BY t.at, t.id LIMIT ${limit}
      ), changed AS (
        UPDATE ledger_transactions t SET reason = 'erased' FROM page p
        WHERE t.id = p.id AND t.reason IS NOT NULL AND t.reason <> 'erased' RETURNING 1
      )
      SELECT (SELECT count(*) FROM page)::int AS rows, (SELECT count(*) FROM changed)::int AS changed,
        (SELECT ${placeOf(Prisma.sql`at`, Prisma.sql`id`)} FROM page ORDER BY at DESC, id DESC LIMIT 1) AS place`);
    return { changed: row?.changed ?? 0, place: (row?.rows ?? 0) < limit ? null : (row?.place ?? null) };
  }

  /** Have no more exports written to the account's bucket, and forget where it was, and its credentials. */
  async closeExports(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`DELETE FROM export_destinations WHERE account_id = ${accountId}::uuid`);
    await tx.execute(Prisma.sql`DELETE FROM export_deliveries WHERE account_id = ${accountId}::uuid`);
  }

  /** Pages of the payment provider that orders led to. */
  async forgetCheckouts(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE top_ups SET checkout_url = NULL WHERE account_id = ${accountId}::uuid AND checkout_url IS NOT NULL`);
  }
}

/** Which usage records `u` are meant, and what becomes of their labels. */
function usageOf(
  subject: Exclude<ErasureSubject, { kind: 'job' }>,
  pseudonym: string,
): [isOf: Prisma.Sql, labels: Prisma.Sql] {
  if (subject.kind === 'account') return [Prisma.sql`true`, Prisma.sql`'{}'::jsonb`];
  const { label, value } = subject;
  return [
    Prisma.sql`u.labels @> ${JSON.stringify({ [label]: value })}::jsonb`,
    Prisma.sql`${JSON.stringify({ [label]: pseudonym })}::jsonb`,
  ];
}
