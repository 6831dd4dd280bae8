import { Prisma } from '@prisma/client';
import type { ErasureSubject } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Erasure, ErasureCounts, ErasureLease } from './erasure';

/** What a request asks for. */
export interface ErasureDraft {
  id: string;
  accountId: string;
  subject: ErasureSubject;
  pseudonym: string;
  requestedBy: string;
}

type LeaseRow = Omit<ErasureLease, 'subject'> & Pick<Erasure, 'subject' | 'jobId' | 'label' | 'value'>;

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

const columns = Prisma.sql`
  e.id, e.account_id, e.subject, e.job_id, e.label, e.value, e.pseudonym, e.state, e.step, e.counts, e.requested_by, e.requested_at,
  e.started_at, e.done_at`;

/** The SQL of erasures as they are asked for and carried out. */
export class ErasureStore {
  /** Record a request. @returns null when there is one for the same that is not done: `findOpen` has it. */
  async insert(
    tx: Statements,
    { id, accountId, subject, pseudonym, requestedBy }: ErasureDraft,
  ): Promise<Erasure | null> {
    const { jobId, label, value } = partsOf(subject);
    const [row] = await tx.rows<Erasure>(Prisma.sql`
      INSERT INTO erasures AS e (id, account_id, subject, job_id, label, value, pseudonym, requested_by)
      VALUES (${id}::uuid, ${accountId}::uuid, ${subject.kind}, ${jobId}::uuid, ${label}, ${value}, ${pseudonym}, ${requestedBy})
      ON CONFLICT DO NOTHING
      RETURNING ${columns}`);
    return row ?? null;
  }

  /** Those of the erasures, by their ids, that there are no records of, of accounts that there are. */
  async unknownOf<Named extends Pick<Erasure, 'id' | 'accountId'>>(
    statements: Statements,
    named: readonly Named[],
  ): Promise<Named[]> {
    if (named.length === 0) return [];
    const rows = await statements.rows<{ id: string }>(Prisma.sql`
      SELECT n.id FROM unnest(${named.map(({ id }) => id)}::uuid[], ${named.map(({ accountId }) => accountId)}::uuid[]) AS n (id, account_id)
      JOIN accounts a ON a.id = n.account_id
      WHERE NOT EXISTS (SELECT FROM erasures e WHERE e.id = n.id)`);
    const unknown = new Set(rows.map(({ id }) => id));
    return named.filter(({ id }) => unknown.has(id));
  }

  /** The request for the same that is not done. */
  async findOpen(tx: Statements, accountId: string, subject: ErasureSubject): Promise<Erasure | null> {
    const { jobId, label, value } = partsOf(subject);
    const [row] = await tx.rows<Erasure>(Prisma.sql`
      SELECT ${columns} FROM erasures e
      WHERE e.account_id = ${accountId}::uuid AND e.subject = ${subject.kind} AND e.job_id IS NOT DISTINCT FROM ${jobId}::uuid
        AND e.label IS NOT DISTINCT FROM ${label}::text AND e.value IS NOT DISTINCT FROM ${value}::text AND e.state <> 'done'`);
    return row ?? null;
  }

  /** @param accountId null: of any account. */
  async find(statements: Statements, accountId: string | null, id: string): Promise<Erasure | null> {
    const [row] = await statements.rows<Erasure>(Prisma.sql`
      SELECT ${columns} FROM erasures e WHERE e.id = ${id}::uuid AND ${isOf(accountId)}`);
    return row ?? null;
  }

  /** Newest first. @param before only older ones than this id. */
  async list(
    statements: Statements,
    accountId: string | null,
    { before, limit }: { before: string | null; limit: number },
  ): Promise<Erasure[]> {
    return statements.rows(Prisma.sql`
      SELECT ${columns} FROM erasures e
      WHERE ${isOf(accountId)} AND (${before}::uuid IS NULL OR e.id < ${before}::uuid) ORDER BY e.id DESC LIMIT ${limit}`);
  }

  /** How many erasures of an account are not done. @param most counted at most. */
  async countOpen(tx: Statements, accountId: string, most: number): Promise<number> {
    const [row] = await tx.rows<{ count: number }>(Prisma.sql`
      SELECT count(*)::int AS count FROM (
        SELECT FROM erasures WHERE account_id = ${accountId}::uuid AND state <> 'done' LIMIT ${most}::int) AS counted`);
    return row?.count ?? 0;
  }

  /**
   * Take an erasure, for one step: of the next account that has one that is due, the one that has waited longest. Accounts have their turns in
   * the order of their ids: however many erasures one of them has, the next has its turn.
   *
   * @param after accounts up to this one had their turn; null: all of them are to come.
   * @returns null when none is due, or others have all of them.
   */
  async claim(
    statements: Statements,
    {
      leaseSeconds,
      settleSeconds,
      after = null,
    }: { leaseSeconds: number; settleSeconds: number; after?: string | null },
  ): Promise<ErasureLease | null> {
    const [row] = await statements.rows<LeaseRow>(Prisma.sql`
      UPDATE erasures e SET state = 'running', started_at = coalesce(e.started_at, now()), lease_token = gen_random_uuid(),
        lease_expires_at = now() + make_interval(secs => ${leaseSeconds})
      WHERE e.id = (
        WITH RECURSIVE waiting (account_id) AS (
          (SELECT d.account_id FROM erasures d
           WHERE d.state <> 'done' AND d.account_id > ${after ?? BEFORE_ALL}::uuid ORDER BY d.account_id LIMIT 1)
          UNION ALL
          SELECT (SELECT d.account_id FROM erasures d
                  WHERE d.state <> 'done' AND d.account_id > waiting.account_id ORDER BY d.account_id LIMIT 1)
          FROM waiting WHERE waiting.account_id IS NOT NULL
        )
        SELECT due.id FROM waiting CROSS JOIN LATERAL (
          SELECT d.id FROM erasures d
          WHERE d.account_id = waiting.account_id AND d.state <> 'done' AND d.due_at <= now() AND (d.lease_expires_at IS NULL OR d.lease_expires_at < now())
          ORDER BY d.due_at LIMIT 1 FOR UPDATE SKIP LOCKED) due
        LIMIT 1)
      RETURNING e.id, e.account_id, e.subject, e.job_id, e.label, e.value, e.pseudonym, e.step, e.place, e.counts, e.lease_token,
        e.requested_at + make_interval(secs => ${settleSeconds}) AS settles_at,
        e.requested_at + make_interval(secs => ${settleSeconds}) <= now() AS is_settled`);
    if (row === undefined) return null;
    const { subject, jobId, label, value, ...lease } = row;
    return { ...lease, subject: subjectOf({ subject, jobId, label, value }) };
  }

  /** Hold the lease until the transaction ends. @returns false when it is lost: another process has the erasure. */
  async hold(tx: Statements, { id, leaseToken }: ErasureLease): Promise<boolean> {
    const rows = await tx.query(Prisma.sql`
      SELECT 1 FROM erasures WHERE id = ${id}::uuid AND lease_token = ${leaseToken}::uuid FOR UPDATE`);
    return rows.length > 0;
  }

  /** Note how far it is, and give the lease back. @param waitSeconds before the next step. @returns false when the lease was lost. */
  async advance(
    tx: Statements,
    { id, leaseToken }: ErasureLease,
    {
      step,
      place,
      counts,
      waitSeconds,
    }: { step: string; place: string | null; counts: ErasureCounts; waitSeconds: number },
  ): Promise<boolean> {
    const changed = await tx.execute(Prisma.sql`
      UPDATE erasures SET step = ${step}, place = ${place}, counts = ${JSON.stringify(counts)}::jsonb, lease_token = NULL,
        lease_expires_at = NULL, due_at = clock_timestamp() + make_interval(secs => ${waitSeconds})
      WHERE id = ${id}::uuid AND lease_token = ${leaseToken}::uuid`);
    return changed > 0;
  }

  /** It is done: what it was about is forgotten here, too. @returns false when the lease was lost. */
  async finish(tx: Statements, { id, leaseToken }: ErasureLease, counts: ErasureCounts): Promise<boolean> {
    const changed = await tx.execute(Prisma.sql`
      UPDATE erasures SET state = 'done', done_at = now(), step = '', place = NULL, value = NULL, counts = ${JSON.stringify(counts)}::jsonb,
        lease_token = NULL, lease_expires_at = NULL
      WHERE id = ${id}::uuid AND lease_token = ${leaseToken}::uuid`);
    return changed > 0;
  }

  /** With a whole account its other erasures are done as well, and the labels that they name are forgotten. */
  async finishOthers(tx: Statements, { id, accountId }: ErasureLease): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE erasures SET state = 'done', done_at = coalesce(done_at, now()), step = '', place = NULL, label = NULL, value = NULL,
        lease_token = NULL, lease_expires_at = NULL
      WHERE account_id = ${accountId}::uuid AND id <> ${id}::uuid AND (state <> 'done' OR label IS NOT NULL)`);
  }
}

const isOf = (accountId: string | null): Prisma.Sql =>
  accountId === null ? Prisma.sql`true` : Prisma.sql`e.account_id = ${accountId}::uuid`;

function partsOf(subject: ErasureSubject): Pick<Erasure, 'jobId' | 'label' | 'value'> {
  const none = { jobId: null, label: null, value: null };
  if (subject.kind === 'job') return { ...none, jobId: subject.jobId };
  return subject.kind === 'label' ? { ...none, label: subject.label, value: subject.value } : none;
}

/** CHECKs see to it that what a kind needs is there. */
function subjectOf({
  subject,
  jobId,
  label,
  value,
}: Pick<Erasure, 'subject' | 'jobId' | 'label' | 'value'>): ErasureSubject {
  if (subject === 'job') return { kind: subject, jobId: jobId ?? '' };
  return subject === 'label' ? { kind: subject, label: label ?? '', value: value ?? '' } : { kind: subject };
}
