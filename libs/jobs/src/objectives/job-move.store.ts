import { Prisma } from '@prisma/client';
import type { JobStatus } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

const NAME = 'objectives';
const NO_JOB = '00000000-0000-0000-0000-000000000000';

/** A place in the order of all moves of jobs. */
export interface MovePosition {
  at: Date;
  jobId: string;
  seq: number;
}

/** The start or the end of a job. */
export interface JobMove extends MovePosition {
  /** `running`: a worker took the job for its first time; else how it ended. */
  status: JobStatus;
  poolId: string;
  /** Of an end with an error. */
  errorCode: string | null;
  /** From the acceptance of the job to this move, in seconds. */
  afterSeconds: number;
  /** It was answered with earlier outputs, and did not run. */
  reused: boolean;
}

/** The starts and ends of jobs, in their order, and how far they are counted. */
export class JobMoveStore {
  /** The last move that is counted. The first call puts the checkpoint at the present: what was before is not counted. */
  async position(statements: Statements): Promise<MovePosition> {
    const find = Prisma.sql`SELECT at, job_id, seq FROM job_count_progress WHERE name = ${NAME}`;
    const [position] = await statements.rows<MovePosition>(find);
    if (position !== undefined) return position;
    await statements.execute(Prisma.sql`
      INSERT INTO job_count_progress (name, at, job_id, seq) VALUES (${NAME}, now(), ${NO_JOB}::uuid, 0) ON CONFLICT DO NOTHING`);
    const [first] = await statements.rows<MovePosition>(find);
    if (first === undefined) throw new Error('the checkpoint was not recorded');
    return first;
  }

  /**
   * The next moves after a position, oldest first.
   *
   * @param lagSeconds younger ones are left: the moves of a transaction bear the time at which it began, and one that began earlier may commit later.
   * @param limit this many at most.
   */
  async next(statements: Statements, after: MovePosition, lagSeconds: number, limit: number): Promise<JobMove[]> {
    return statements.rows(this.nextSql(after, lagSeconds, limit));
  }

  /** The statement of `next`, whose plan a test checks. */
  nextSql({ at, jobId, seq }: MovePosition, lagSeconds: number, limit: number): Prisma.Sql {
    return Prisma.sql`
      SELECT t.at, t.job_id, t.seq, t.to_status AS status, j.pool_id, j.error ->> 'code' AS error_code,
             extract(epoch FROM t.at - j.created_at)::float8 AS after_seconds, j.reused_from IS NOT NULL AS reused
      FROM (
        SELECT at, job_id, seq, to_status FROM job_transitions
        WHERE to_status NOT IN ('queued', 'canceling') AND (at, job_id, seq) > (${at}::timestamptz, ${jobId}::uuid, ${seq}::int)
          AND at <= now() - make_interval(secs => ${lagSeconds}::float8)
        ORDER BY at, job_id, seq LIMIT ${limit}::int
      ) t JOIN jobs j ON j.id = t.job_id
      ORDER BY t.at, t.job_id, t.seq`;
  }

  /** Move the checkpoint. @returns false where another process has moved it meanwhile: what was read is that one's to count. */
  async advance(statements: Statements, from: MovePosition, to: MovePosition): Promise<boolean> {
    const moved = await statements.execute(Prisma.sql`
      UPDATE job_count_progress SET at = ${to.at}::timestamptz, job_id = ${to.jobId}::uuid, seq = ${to.seq}::int
      WHERE name = ${NAME} AND at = ${from.at}::timestamptz AND job_id = ${from.jobId}::uuid AND seq = ${from.seq}::int`);
    return moved > 0;
  }
}
