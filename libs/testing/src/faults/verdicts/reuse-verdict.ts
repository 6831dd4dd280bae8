import type pg from 'pg';
import { verdictOf, type Verdict } from '../verdict-of';

/**
 * A job that was answered with earlier outputs was free, and has just those of the job that ran, as long as that is there. That their
 * bytes are there, the audits of jobs and storage show.
 */
export async function reuseVerdict(client: pg.Client): Promise<Verdict> {
  const { rows } = await client.query<{ subject: string; made: string; ran: string | null; charged: string }>(
    `SELECT j.id::text AS subject, files.of AS made, ran.of AS ran, j.charged_micros::text AS charged
     FROM jobs j
     CROSS JOIN LATERAL (
       SELECT coalesce(string_agg(concat_ws(' ', o.name, a.hash), ', ' ORDER BY o.ordinal), '') AS of
       FROM job_outputs o JOIN assets a ON a.id = o.asset_id WHERE o.job_id = j.id) files
     LEFT JOIN LATERAL (
       SELECT string_agg(concat_ws(' ', o.name, a.hash), ', ' ORDER BY o.ordinal) AS of
       FROM jobs s JOIN job_outputs o ON o.job_id = s.id JOIN assets a ON a.id = o.asset_id
       WHERE s.id = j.reused_from AND s.account_id = j.account_id) ran ON true
     WHERE j.reused_from IS NOT NULL`,
  );
  const broken = rows.filter(
    ({ made, ran, charged }) => made === '' || (ran !== null && ran !== made) || charged !== '0',
  );
  return verdictOf(
    'reused outputs are those of the job that ran, and free',
    rows.length,
    broken.map(({ subject, made, ran, charged }) => ({ subject, detail: `has ${made} of ${ran}, charged ${charged}` })),
  );
}
