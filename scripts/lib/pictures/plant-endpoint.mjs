import { onDatabase } from '../prisma/index.mjs';
import { call } from './call.mjs';

/** @typedef {import('../stack/stack.mjs').RunFile} RunFile */

const ATTEMPTS = [
  { state: 'delivered', type: 'webhook.test', answers: [[204, null, '']] },
  {
    state: 'failed',
    type: 'job.failed',
    answers: [
      [500, null, '{"error": "database is locked"}'],
      [null, 'no answer within 15 s', ''],
    ],
  },
  { state: 'delivered', type: 'job.succeeded', answers: [[200, null, 'ok']] },
];

/**
 * Two webhook endpoints, the second one with a log. Both are of hosts that do not exist, and nothing is sent: what there is to see
 * has happened already.
 *
 * @param {RunFile} run
 * @param {string[]} jobs two of the account
 * @returns {Promise<string>} the id of the second
 */
export async function plantEndpoint(run, [succeeded, failed]) {
  const path = '/platform/v1/webhook-endpoints';
  const old = await call(run, 'POST', path, { url: 'https://old.shop.example/hooks', events: ['job.failed'] });
  await call(run, 'PATCH', `${path}/${String(old.id)}`, { enabled: false });
  const url = 'https://shop.example/hooks/millrace';
  const { id } = await call(run, 'POST', path, { url, description: 'Orders of the shop' });
  await onDatabase(run.databaseUrl, async (client) => {
    for (const { state, type, answers } of ATTEMPTS) {
      const job = type === 'job.succeeded' ? succeeded : type === 'job.failed' ? failed : null;
      const { rows } = /** @type {{ rows: { id: string }[] }} */ (
        await client.query(
          `INSERT INTO webhook_messages (endpoint_id, type, job_id, state, attempt, tries, ended_at)
         VALUES ($1, $2, $3, $4, $5, $5, now()) RETURNING id`,
          [id, type, job, state, answers.length],
        )
      );
      for (const [at, [status, error, answer]] of answers.entries()) {
        await client.query(
          `INSERT INTO webhook_attempts (message_id, attempt, status, error, duration_ms, answer) VALUES ($1, $2, $3, $4, $5, $6)`,
          [rows[0]?.id, at + 1, status, error, status === null ? 15_000 : 48, answer],
        );
      }
    }
  });
  return String(id);
}
