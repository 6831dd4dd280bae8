import { randomUUID } from 'node:crypto';
import { until } from '../client.mjs';
import { LONG_GRAPH } from '../service.mjs';
import { FLEET_CAUSES } from './fleet-causes.mjs';
import { JOB_CAUSES } from './job-causes.mjs';

/** @typedef {import('./tools.mjs').AlertTools} AlertTools */
/** @typedef {import('./tools.mjs').Undo} Undo */
/**
 * What alerts are for, and those that it raises. `mayRaise`: what else it truly is. `prepare` comes before Prometheus is there, `bring`
 * when that has found all well.
 *
 * @typedef {{
 *   what: string,
 *   raises: string[],
 *   mayRaise?: string[],
 *   prepare?: (tools: AlertTools) => Promise<Undo>,
 *   bring?: (tools: AlertTools) => Promise<Undo>,
 * }} Cause
 */

const BURNS = ['MillraceErrorsBurnFast', 'MillraceErrorsBurn', 'MillraceErrorsBurnSlowly'];
/** Those that look at caps: their table is away. */
const LOOPS_TOO = ['MillraceLoopFails'];

/** Together they stay below the account's limit of requests: 7,200 of 12,000 a minute. */
const READERS = 6;
const PAUSE_MS = 50;

/**
 * One request in so many ends in 5xx: the table of a list is away, which no other request reads meanwhile. Loops do, and may
 * fail for long enough to be alerted of.
 *
 * @param {number} nth
 */
function errorsOf(nth) {
  return async (/** @type {AlertTools} */ tools) => {
    const table = 'label_rules';
    await tools.sql(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    let sent = 0;
    const stop = tools.repeat(async () => {
      sent += 1;
      const path = sent % nth === 0 ? '/platform/v1/label-rules' : '/platform/v1/engine-classes';
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      await tools.service.read(path);
    }, READERS);
    return async () => {
      await stop();
      await tools.sql(`ALTER TABLE ${table}_away RENAME TO ${table}`);
    };
  };
}

/** @type {Cause[]} */
export const CAUSES = [
  {
    what: 'all api processes go',
    raises: ['MillraceAllProcessesAway', 'MillraceNothingScraped'],
    bring: (tools) => tools.scale('api', 0),
  },
  {
    what: 'all maintenance processes go',
    raises: ['MillraceAllProcessesAway', 'MillraceNothingScraped', 'MillraceMaintenanceAway'],
    bring: (tools) => tools.scale('maintenance', 0),
  },
  {
    what: 'a process hangs',
    raises: ['MillraceTargetDown'],
    bring: async (tools) => {
      const pid = tools.workerPid();
      tools.signal(pid, 'SIGSTOP');
      return async () => tools.signal(pid, 'SIGCONT');
    },
  },
  {
    what: 'an event loop is blocked again and again',
    raises: ['MillraceEventLoopLags'],
    bring: async (tools) => {
      const pid = tools.workerPid();
      const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
      return tools.repeat(async () => {
        tools.signal(pid, 'SIGSTOP');
        await wait(900);
        tools.signal(pid, 'SIGCONT');
        await wait(400);
      });
    },
  },
  {
    what: 'PostgreSQL goes',
    raises: ['MillracePostgresAway'],
    // No step of a fleet process succeeds.
    mayRaise: ['MillraceFleetWithoutLeader'],
    bring: async ({ servers: { relays }, service }) => {
      relays.postgres.cut();
      return async () => {
        relays.postgres.mend();
        await until(service.scope, 'The service to answer again', () => service.read('/platform/v1/engine-classes'));
      };
    },
  },
  {
    what: 'a balance is not what its entries sum to',
    raises: ['MillraceLedgerImbalance'],
    prepare: async (tools) => {
      const account = /** @type {{ id: string }} */ (await tools.service.admin('POST', '/accounts', { name: 'wrong' }));
      await tools.service.admin('POST', `/accounts/${account.id}/credits`, { amount_micros: 1_000, reason: 'a test' });
      await tools.sql('UPDATE balances SET available_micros = available_micros + 1 WHERE account_id = $1', [
        account.id,
      ]);
      await tools.restartMaintenance();
      return async () => {
        await tools.service.admin('POST', `/accounts/${account.id}/credits/rebuild`, {});
        await tools.restartMaintenance();
      };
    },
  },
  {
    what: 'Redis fills up',
    raises: ['MillraceRedisNearlyFull'],
    bring: (tools) =>
      tools.redis(async (call) => {
        const used = /used_memory:(\d+)/.exec(String(await call('INFO', 'memory')))?.[1];
        const before = /** @type {string[]} */ (await call('CONFIG', 'GET', 'maxmemory'))[1] ?? '0';
        await call('CONFIG', 'SET', 'maxmemory', String(Math.round(Number(used) / 0.85)));
        return () => tools.redis((again) => again('CONFIG', 'SET', 'maxmemory', before));
      }),
  },
  { what: 'every request ends in an error', raises: BURNS, mayRaise: LOOPS_TOO, bring: errorsOf(1) },
  { what: 'one request in 90 ends in an error', raises: BURNS.slice(1), mayRaise: LOOPS_TOO, bring: errorsOf(90) },
  { what: 'one request in 220 ends in an error', raises: BURNS.slice(2), mayRaise: LOOPS_TOO, bring: errorsOf(220) },
  {
    what: 'statements wait for a table, and others for their connections',
    raises: ['MillraceDatabaseConnectionsShort'],
    // What waits too long is answered with 503.
    mayRaise: [...BURNS, ...LOOPS_TOO],
    bring: async (tools) => {
      const addresses = (await tools.pods('app.kubernetes.io/component=api')).map(({ status }) => status?.podIP ?? '');
      let sent = 0;
      const asks = tools.repeat(() => {
        sent += 1;
        return tools.service.read('/platform/v1/label-rules', `http://${addresses[sent % addresses.length]}:8080`);
      }, 30);
      // Each time for longer than a statement may take.
      const holds = tools.repeat(() => tools.sql('BEGIN; LOCK TABLE label_rules; SELECT pg_sleep(25); COMMIT'));
      return async () => void (await Promise.all([asks(), holds()]));
    },
  },
  {
    what: 'a transaction stays open',
    raises: ['MillraceTransactionStaysOpen'],
    bring: async (tools) => tools.openTransaction(),
  },
  {
    what: 'the tables of webhooks are away',
    raises: ['MillraceLoopFails'],
    bring: async (tools) => {
      await tools.sql('ALTER TABLE webhook_messages RENAME TO webhook_messages_away');
      return () => tools.sql('ALTER TABLE webhook_messages_away RENAME TO webhook_messages');
    },
  },
  {
    what: 'webhooks are not delivered',
    raises: ['MillraceWebhooksLate'],
    bring: async (tools) => {
      const id = randomUUID();
      await tools.sql(
        `INSERT INTO webhook_endpoints (id, account_id, url, event_types, origin)
         SELECT $1, id, 'https://hooks.millrace.test/', '{job.succeeded}', 'https://hooks.millrace.test' FROM accounts LIMIT 1`,
        [id],
      );
      const undo = await tools.refuseChanges('webhook_messages', `old.endpoint_id = '${id}'`);
      await tools.sql(
        `INSERT INTO webhook_messages (endpoint_id, type, data, due_at)
         VALUES ($1, 'job.succeeded', '{}', now() - interval '5 minutes')`,
        [id],
      );
      return async () => {
        await undo();
        await tools.sql('DELETE FROM webhook_messages WHERE endpoint_id = $1', [id]);
        await tools.sql('DELETE FROM webhook_endpoints WHERE id = $1', [id]);
      };
    },
  },
  {
    what: 'the audit log is not sealed',
    raises: ['MillraceAuditLogWaits', 'MillraceLoopFails'],
    bring: async (tools) => {
      const undo = await tools.refuseChanges('audit_log', 'old.segment IS NULL');
      await tools.sql(
        `INSERT INTO audit_log (id, at, actor, action, subject_type, subject_id)
         VALUES ($1, now() - interval '1 hour', 'admin', 'audit.run', 'audit', 'invariants')`,
        [randomUUID()],
      );
      return async () => {
        await undo();
        await until(tools.scope, 'the audit log to be sealed', async () => {
          const waiting = "SELECT FROM audit_log WHERE segment IS NULL AND at < now() - interval '10 minutes'";
          return (await tools.sql(waiting)).length === 0;
        });
        // Each process measures it twice a minute: the figure of before would be seen for as long.
        await tools.restartMaintenance();
      };
    },
  },
  {
    what: 'a job cannot be taken back from its lost worker',
    raises: ['MillraceLoopItemsFail'],
    bring: async (tools) => {
      const { id } = await tools.service.submit(LONG_GRAPH);
      await tools.service.reaches(id, 'running');
      const undo = await tools.refuseChanges('jobs', `old.id = '${id}'`);
      return async () => {
        await undo();
        await tools.service.cancel(id);
      };
    },
  },
  ...JOB_CAUSES,
  ...FLEET_CAUSES,
];
