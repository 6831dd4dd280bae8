import { Prisma } from '@prisma/client';
import type { ErasureSubject } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { hasLabels, type JobPlace } from '../state';

/** A job that is to be canceled first. */
export interface LiveJob extends JobPlace {
  id: string;
}

/** What belonged to jobs that were deleted. */
export interface DeletedJobs {
  /** Assets that they made, also those that they no longer showed. */
  outputIds: string[];
  /** Batches of which nothing is left. */
  batchIds: string[];
}

/** Outputs that are erased in one transaction, each with its asset and its blob: some seconds' work. */
const OUTPUTS = 5_000;

/** The SQL that erases jobs. Every method takes the account: a job of another is not found. */
export class JobErasureStore {
  /** Whether the account has this job, or had it: what it cost is kept. */
  async isKnown(statements: Statements, accountId: string, jobId: string): Promise<boolean> {
    const [row] = await statements.rows<{ known: boolean }>(Prisma.sql`
      SELECT EXISTS (SELECT FROM jobs WHERE id = ${jobId}::uuid AND account_id = ${accountId}::uuid)
        OR EXISTS (SELECT FROM usage_records WHERE job_id = ${jobId}::uuid AND account_id = ${accountId}::uuid) AS known`);
    return row?.known ?? false;
  }

  /** Jobs that wait or run, in the order of their ids. */
  async listLive(
    statements: Statements,
    accountId: string,
    subject: ErasureSubject,
    limit: number,
  ): Promise<LiveJob[]> {
    return statements.rows(Prisma.sql`
      SELECT j.id, j.account_id, j.surface, j.deployment_id FROM jobs j
      WHERE ${isOf(accountId, subject)} AND j.status IN ('queued', 'running') ORDER BY j.id LIMIT ${limit}`);
  }

  /** Jobs that have ended, at most `limit`, and as many as have made `OUTPUTS` outputs together; at least one. */
  async listEnded(
    statements: Statements,
    accountId: string,
    subject: ErasureSubject,
    limit: number,
  ): Promise<string[]> {
    const rows = await statements.rows<{ id: string }>(Prisma.sql`
      SELECT id FROM (
        SELECT e.id, row_number() OVER (ORDER BY e.id) AS nth, sum(e.outputs) OVER (ORDER BY e.id) AS outputs_so_far FROM (
          SELECT j.id, (SELECT count(*) FROM assets a WHERE a.job_id = j.id) AS outputs
          FROM jobs j WHERE ${isOf(accountId, subject)} AND j.delivery = 'done' LIMIT ${limit}
        ) e
      ) sums WHERE nth = 1 OR outputs_so_far <= ${OUTPUTS}`);
    return rows.map(({ id }) => id);
  }

  async hasAny(statements: Statements, accountId: string, subject: ErasureSubject): Promise<boolean> {
    const rows = await statements.query(Prisma.sql`SELECT 1 FROM jobs j WHERE ${isOf(accountId, subject)} LIMIT 1`);
    return rows.length > 0;
  }

  /**
   * Delete jobs that have ended, with all that refers to them by a foreign key: graph, attempts, log, history. Batches of which nothing
   * is left go with them; of others the reasons for which items were refused.
   */
  async delete(tx: Statements, accountId: string, jobIds: readonly string[]): Promise<DeletedJobs> {
    const jobs = await tx.rows<{ id: string; batchId: string | null }>(Prisma.sql`
      SELECT id, batch_id FROM jobs
      WHERE id = ANY(${[...jobIds]}::uuid[]) AND account_id = ${accountId}::uuid AND (delivery || '') = 'done' ORDER BY id FOR UPDATE`);
    const ids = jobs.map(({ id }) => id);
    const outputs = await tx.rows<{ assetId: string }>(Prisma.sql`
      SELECT id AS asset_id FROM assets WHERE job_id = ANY(${ids}::uuid[]) AND account_id = ${accountId}::uuid`);
    await tx.execute(Prisma.sql`DELETE FROM jobs WHERE id = ANY(${ids}::uuid[])`);
    const batchIds = [...new Set(jobs.flatMap(({ batchId }) => batchId ?? []))];
    return {
      outputIds: outputs.map(({ assetId }) => assetId),
      batchIds: batchIds.length === 0 ? [] : await this.deleteEmptyBatches(tx, accountId, batchIds),
    };
  }

  private async deleteEmptyBatches(tx: Statements, accountId: string, ids: readonly string[]): Promise<string[]> {
    const gone = await tx.rows<{ id: string }>(Prisma.sql`
      DELETE FROM batches b WHERE b.id = ANY(${[...ids]}::uuid[]) AND b.account_id = ${accountId}::uuid
        AND NOT EXISTS (SELECT FROM jobs j WHERE j.batch_id = b.id)
      RETURNING b.id`);
    await tx.execute(Prisma.sql`
      UPDATE batches SET refused = '[]' WHERE id = ANY(${[...ids]}::uuid[]) AND account_id = ${accountId}::uuid AND refused <> '[]'`);
    return gone.map(({ id }) => id);
  }

  /** Delete batches that have no jobs: all of an account, or those that were submitted with the label. @returns their ids. */
  async deleteBatches(
    tx: Statements,
    accountId: string,
    subject: Exclude<ErasureSubject, { kind: 'job' }>,
    limit: number,
  ): Promise<string[]> {
    const labelled =
      subject.kind === 'account'
        ? Prisma.empty
        : Prisma.sql`AND b.labels @> ${JSON.stringify({ [subject.label]: subject.value })}::jsonb`;
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      DELETE FROM batches WHERE id IN (
        SELECT b.id FROM batches b
        WHERE b.account_id = ${accountId}::uuid ${labelled} AND NOT EXISTS (SELECT FROM jobs j WHERE j.batch_id = b.id)
        LIMIT ${limit})
      RETURNING id`);
    return rows.map(({ id }) => id);
  }

  /**
   * Forget why items were refused, in batches of which one was refused for a rule of the label and value: a page of the account's batches
   * is read, in the order of their ids.
   *
   * @returns the last of it; null: none was left.
   */
  async forgetRefusals(
    tx: Statements,
    accountId: string,
    { label, value }: { label: string; value: string },
    { after, limit }: { after: string; limit: number },
  ): Promise<{ last: string | null }> {
    const [row] = await tx.rows<{ last: string | null }>(Prisma.sql`
      WITH page AS (
        SELECT b.id, b.refused FROM batches b
        WHERE b.account_id = ${accountId}::uuid AND b.id > ${after}::uuid ORDER BY b.id LIMIT ${limit}
      ), forgotten AS (
        UPDATE batches b SET refused = '[]' FROM page p
        WHERE b.id = p.id AND p.refused @> ${JSON.stringify([{ details: { label, value } }])}::jsonb
      )
      SELECT (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last`);
    return row ?? { last: null };
  }
}

/** The condition on the row `j` of a job that is to be erased. */
function isOf(accountId: string, subject: ErasureSubject): Prisma.Sql {
  const own = Prisma.sql`j.account_id = ${accountId}::uuid`;
  switch (subject.kind) {
    case 'job':
      return Prisma.sql`${own} AND j.id = ${subject.jobId}::uuid`;
    case 'label':
      return Prisma.sql`${own} AND ${hasLabels({ [subject.label]: subject.value })}`;
    case 'account':
      return own;
  }
}
