import type pg from 'pg';
import type { History, HookReceiver } from '../load';
import { verdictOf, type Verdict } from '../verdict-of';

interface BatchRow {
  id: string;
  account_id: string;
  key: string | null;
  job_count: number;
  retries: number;
  is_recorded: boolean;
  placed: number;
  ended: number;
  messages: number;
}

interface MessageRow {
  id: string;
  type: string;
  job_id: string | null;
  batch_id: string | null;
  state: string;
  status: string | null;
}

/** What must hold of batches after a run. */
export async function batchVerdicts(client: pg.Client, { batches }: History): Promise<Verdict[]> {
  const { rows } = await client.query<BatchRow>(`
    SELECT b.id, b.account_id, b.idempotency_key AS key, b.job_count, b.retries, b.completed_at IS NOT NULL AS is_recorded,
      count(j.batch_index)::int AS placed, (count(j.batch_index) FILTER (WHERE j.delivery = 'done'))::int AS ended,
      (SELECT count(*) FROM webhook_messages m WHERE m.batch_id = b.id)::int AS messages
    FROM batches b LEFT JOIN jobs j ON j.batch_id = b.id GROUP BY b.id`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const answered = batches.flatMap((batch) => [...batch.ids].map((id) => ({ ...batch, id })));
  const lost = answered.filter(({ id, key, accountId, size }) => {
    const row = byId.get(id);
    return row?.key !== key || row.account_id !== accountId || row.job_count !== size;
  });
  return [
    verdictOf(
      'one batch per acknowledged 201',
      answered.length,
      lost.map(({ id, key }) => ({ subject: id, detail: `${key} was answered with it` })),
    ),
    verdictOf(
      'a batch has each of its jobs once',
      rows.length,
      rows
        .filter(({ placed, job_count: jobs }) => placed !== jobs)
        .map(({ id, placed, job_count: jobs }) => ({ subject: id, detail: `has ${placed} of ${jobs} jobs` })),
    ),
    verdictOf(
      'a batch ends when all its jobs have',
      rows.length,
      rows
        .filter(({ ended, job_count: jobs, is_recorded: isRecorded }) => ended !== jobs || !isRecorded)
        .map(({ id, ended }) => ({ subject: id, detail: `has ${ended} ended jobs, and its end is not recorded` })),
    ),
    verdictOf(
      'an end of a batch is recorded once',
      rows.length,
      rows
        .filter(({ messages, retries }) => messages > retries + 1)
        .map(({ id, messages }) => ({ subject: id, detail: `has ${messages} messages of its end` })),
    ),
  ];
}

/** Make what waits for another attempt due, and wait until nothing does. */
export async function drainWebhooks(client: pg.Client, limitMs: number): Promise<void> {
  const until = Date.now() + limitMs;
  while (Date.now() < until) {
    const { rowCount } = await client.query(`UPDATE webhook_messages SET due_at = now() WHERE state = 'pending'`);
    const { rows } = await client.query(`SELECT FROM batches WHERE completed_at IS NULL LIMIT 1`);
    if (rowCount === 0 && rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

/** What must hold of the webhooks of an account whose endpoint was there before its first job. */
export async function webhookVerdicts(
  client: pg.Client,
  accountId: string,
  receiver: Pick<HookReceiver, 'accepted'>,
): Promise<Verdict[]> {
  // The end of a batch whose jobs were tried again before it was sent is not sent.
  const { rows: messages } = await client.query<MessageRow>(`
    SELECT m.id, m.type, m.job_id, m.batch_id, m.state, j.status
    FROM webhook_messages m LEFT JOIN jobs j ON j.id = m.job_id LEFT JOIN batches b ON b.id = m.batch_id
    WHERE coalesce((m.data ->> 'retries')::int, b.retries) IS NOT DISTINCT FROM b.retries`);
  const { rows: ends } = await client.query<{ id: string; messages: number }>(
    `SELECT j.id, (SELECT count(*) FROM webhook_messages m WHERE m.job_id = j.id)::int AS messages
     FROM jobs j WHERE j.account_id = $1 AND j.delivery = 'done'
     UNION ALL
     SELECT b.id, least(1, (SELECT count(*) FROM webhook_messages m WHERE m.batch_id = b.id))::int
     FROM batches b WHERE b.account_id = $1 AND b.completed_at IS NOT NULL`,
    [accountId],
  );
  const named = messages.filter(({ job_id: job }) => job !== null);
  return [
    verdictOf(
      'an end is a message, once',
      ends.length,
      ends
        .filter((end) => end.messages !== 1)
        .map((end) => ({ subject: end.id, detail: `has ${end.messages} messages` })),
    ),
    verdictOf(
      'a message names the end',
      named.length,
      named
        .filter(({ type, status }) => type !== `job.${status}`)
        .map(({ id, type, status }) => ({ subject: id, detail: `is ${type} of a job that is ${status}` })),
    ),
    verdictOf(
      'a message is delivered, at least once',
      messages.length,
      messages
        .filter(({ id, state }) => state !== 'delivered' || !receiver.accepted.has(id))
        .map(({ id, state }) => ({ subject: id, detail: `is ${state}; accepted: ${receiver.accepted.has(id)}` })),
    ),
  ];
}
