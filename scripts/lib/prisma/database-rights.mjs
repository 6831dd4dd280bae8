/*
 * What each process may do with each table, where it connects as a member of a role of its own. With one user for everything,
 * who owns the tables, none of this applies.
 */

/** The roles, one for each process. An operator makes them; where one is missing, nothing is granted. */
export const ROLES = ['millrace_api', 'millrace_worker', 'millrace_maintenance', 'millrace_gateway'];

const READ = 'SELECT';
const APPEND = 'SELECT, INSERT';
const CHANGE = 'SELECT, UPDATE';
const WRITE = 'SELECT, INSERT, UPDATE';
const REMOVE = 'SELECT, DELETE';
const SWEEP = 'SELECT, UPDATE, DELETE';
const ALL = 'SELECT, INSERT, UPDATE, DELETE';
const NOTHING = '';
/**
 * To see which keys expire, and to note that it was said; as which key a member is signed in; which keys spend together; to take
 * what names somebody from those that are erased. It never reads the hash of a key.
 */
const NOTE_EXPIRY =
  'SELECT (id, account_id, name, last_four, labels, created_at, expires_at, revoked_at, expiry_notice_days, member_id, is_session_key, spend_keys), ' +
  'UPDATE (expiry_notice_days, name, labels, key_hash)';
/** To delete those of networks, to take its name from one that is erased, and to count what its developers are mailed. */
const FORGET_ACCOUNT =
  'SELECT, UPDATE (name, submission_defaults, updated_at, developer_mails_on, developer_mails), DELETE';
/** To take the address from who was a member long ago, or of an account that is erased. */
const FORGET_MEMBER = 'SELECT, UPDATE (email)';
/** An entry is appended as it is known; it is sealed by a function of the owner. */
const APPEND_ENTRY =
  'SELECT, INSERT (id, at, actor, action, subject_type, subject_id, account_id, address, details, reason)';
/** How long entries wait to be sealed. What they say it may not read. */
const MEASURE_SEALING = 'SELECT (id, at, segment)';
/** That a segment was exported is noted once. */
const NOTE_EXPORT = 'SELECT, UPDATE (exported_at, object_key)';
const APPEND_AND_REMOVE = 'SELECT, INSERT, DELETE';
/** Amounts are only appended to; why something was posted may be struck out. */
const APPEND_AND_REDACT = 'SELECT, INSERT, UPDATE (reason)';

/**
 * By table: the rights of the api, the worker, the maintenance process and the gateway. Nobody of them may truncate a table, change what is
 * only appended to, or make anything. Locking a row takes the right to update it. What moves a job is in all three processes.
 *
 * @type {Record<string, [api: string, worker: string, maintenance: string, gateway: string]>}
 */
export const RIGHTS = {
  _prisma_migrations: [READ, READ, READ, READ],
  account_queues: [WRITE, WRITE, ALL, WRITE],
  account_storage: [WRITE, WRITE, ALL, WRITE],
  account_turns: [READ, READ, READ, READ],
  accounts: [WRITE, NOTHING, FORGET_ACCOUNT, NOTHING],
  api_keys: [WRITE, NOTHING, NOTE_EXPIRY, NOTHING],
  assets: [ALL, WRITE, ALL, WRITE],
  audit_log: [APPEND_ENTRY, NOTHING, MEASURE_SEALING, NOTHING],
  audit_segments: [READ, NOTHING, NOTE_EXPORT, NOTHING],
  balances: [WRITE, WRITE, WRITE, WRITE],
  batch_retries: [APPEND, NOTHING, REMOVE, NOTHING],
  batches: [WRITE, NOTHING, SWEEP, NOTHING],
  blobs: [WRITE, WRITE, ALL, WRITE],
  catalogues: [READ, WRITE, SWEEP, WRITE],
  console_sessions: [ALL, NOTHING, REMOVE, NOTHING],
  credit_lots: [WRITE, NOTHING, WRITE, NOTHING],
  deployment_versions: [WRITE, CHANGE, CHANGE, CHANGE],
  deployments: [WRITE, CHANGE, CHANGE, CHANGE],
  engine_classes: [READ, NOTHING, WRITE, NOTHING],
  erasures: [APPEND, NOTHING, CHANGE, NOTHING],
  export_attempts: [READ, NOTHING, 'SELECT, INSERT, DELETE', NOTHING],
  export_deliveries: [WRITE, NOTHING, ALL, NOTHING],
  export_destinations: [ALL, NOTHING, SWEEP, NOTHING],
  fleet_groups: [READ, NOTHING, WRITE, NOTHING],
  fleet_leases: [READ, NOTHING, WRITE, NOTHING],
  idempotency_keys: [WRITE, NOTHING, SWEEP, NOTHING],
  invitation_mails: [APPEND_AND_REMOVE, NOTHING, REMOVE, NOTHING],
  invitations: [ALL, NOTHING, REMOVE, NOTHING],
  job_attempts: [WRITE, WRITE, WRITE, WRITE],
  job_count_progress: [NOTHING, NOTHING, WRITE, NOTHING],
  job_graphs: [APPEND, READ, READ, READ],
  job_inputs: [ALL, SWEEP, SWEEP, SWEEP],
  job_logs: [WRITE, WRITE, WRITE, WRITE],
  job_outputs: [SWEEP, ALL, SWEEP, ALL],
  job_transitions: [APPEND, APPEND, APPEND, APPEND],
  jobs: [WRITE, CHANGE, SWEEP, CHANGE],
  label_rules: [ALL, READ, REMOVE, READ],
  label_use: [WRITE, WRITE, ALL, WRITE],
  ledger_audit_progress: [NOTHING, NOTHING, WRITE, NOTHING],
  ledger_days: [READ, NOTHING, APPEND, NOTHING],
  ledger_entries: [APPEND, APPEND, APPEND, APPEND],
  ledger_transactions: [APPEND, APPEND, APPEND_AND_REDACT, APPEND],
  mail_messages: [APPEND_AND_REMOVE, NOTHING, ALL, NOTHING],
  members: [WRITE, NOTHING, FORGET_MEMBER, NOTHING],
  models: [ALL, CHANGE, SWEEP, CHANGE],
  operator_sessions: [ALL, NOTHING, REMOVE, NOTHING],
  operator_tokens: [WRITE, NOTHING, NOTHING, NOTHING],
  payment_events: [APPEND, NOTHING, READ, NOTHING],
  payment_reversals: [WRITE, NOTHING, WRITE, NOTHING],
  pools: [WRITE, WRITE, WRITE, WRITE],
  resumable_uploads: [ALL, NOTHING, ALL, NOTHING],
  sign_in_links: [ALL, NOTHING, APPEND_AND_REMOVE, NOTHING],
  sign_in_requests: [APPEND, NOTHING, SWEEP, NOTHING],
  storage_reservations: [ALL, NOTHING, ALL, NOTHING],
  top_ups: [WRITE, NOTHING, WRITE, NOTHING],
  upload_days: [WRITE, NOTHING, ALL, NOTHING],
  usage_records: [APPEND, APPEND, WRITE, APPEND],
  webhook_attempts: [READ, NOTHING, 'SELECT, INSERT, DELETE', NOTHING],
  webhook_endpoints: [WRITE, READ, SWEEP, READ],
  webhook_messages: [WRITE, APPEND, ALL, APPEND],
  webhook_secrets: [WRITE, NOTHING, SWEEP, NOTHING],
  worker_tokens: [WRITE, NOTHING, NOTHING, CHANGE],
  workers: [CHANGE, WRITE, SWEEP, WRITE],
};

const MAINTENANCE = ['millrace_maintenance'];
/**
 * Functions that run with the rights of the owner, and the roles that may call each. Only the maintenance process ends the
 * lives of rows, and it may not delete from the audit log, nor strike out in it, seal it or read it, but through these. Every process
 * gives turns and counts what keys spend: workers and gateways may not read the keys.
 *
 * @type {Record<string, string[]>}
 */
export const OWNER_FUNCTIONS = {
  'sweep_audit_log(bigint, integer)': MAINTENANCE,
  'redact_audit_log(uuid, text[], uuid, integer)': MAINTENANCE,
  'seal_audit_log(integer, integer)': MAINTENANCE,
  'read_audit_segment(bigint)': MAINTENANCE,
  'dispatch_turns(text, integer, integer, bigint, bigint, timestamp with time zone, integer)': ROLES,
  'latest_key(uuid)': ROLES,
  'spend_keys_of(uuid)': ROLES,
};

/**
 * Give the roles that exist exactly these rights, in one transaction: processes at work notice nothing. Everybody else may call no
 * function of the owner; in a restored database PostgreSQL's default, which lets all call them, may be back.
 *
 * @param {import('pg').Client} client connected as the owner of the tables
 * @returns {Promise<string[]>} the roles
 */
export async function grantRights(client) {
  const roles = await rolesOf(client);
  const statements = [
    ...Object.keys(OWNER_FUNCTIONS).map((signature) => `REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`),
    ...roles.flatMap(statementsOf),
  ];
  // Without a role of their own, gateways connect as workers do.
  if (roles.includes('millrace_worker') && !roles.includes('millrace_gateway')) {
    statements.push(`GRANT ${RIGHTS.worker_tokens?.[3]} ON worker_tokens TO millrace_worker`);
  }
  await client.query(`BEGIN; ${statements.join('; ')}; COMMIT`);
  return roles;
}

/**
 * Give the roles that exist their rights to what there is of the tables, and take none: processes may start before the last migration, and those of
 * the version before are still at work. In a transaction of the caller, or without one.
 *
 * @param {import('pg').Client} client connected as the owner of the tables
 */
export async function grantRightsSoFar(client) {
  const roles = await rolesOf(client);
  if (roles.length === 0) return;
  /** @type {import('pg').QueryResult<{ name: string, columns: string[] }>} */
  const { rows } = await client.query(`
    SELECT c.relname AS name, array_agg(a.attname::text) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' GROUP BY c.relname`);
  const grants = roles.flatMap((role) =>
    rows.flatMap(({ name, columns }) => {
      const rights = ofColumns(RIGHTS[name]?.[ROLES.indexOf(role)] ?? NOTHING, columns);
      return rights === NOTHING ? [] : [`GRANT ${rights} ON ${name} TO ${role}`];
    }),
  );
  await client.query(grants.join('; '));
}

/**
 * What of the rights is to these columns, or to the whole table.
 *
 * @param {string} rights
 * @param {string[]} columns
 */
function ofColumns(rights, columns) {
  return [...rights.matchAll(/([A-Z]+)(?: \(([^)]*)\))?/g)]
    .flatMap(([right, verb, list]) => {
      if (list === undefined) return [right];
      const there = list.split(', ').filter((column) => columns.includes(column));
      return there.length === 0 ? [] : [`${verb} (${there.join(', ')})`];
    })
    .join(', ');
}

/** @param {import('pg').Client} client */
async function rolesOf(client) {
  /** @type {import('pg').QueryResult<{ rolname: string }>} */
  const { rows } = await client.query('SELECT rolname FROM pg_roles WHERE rolname = ANY($1)', [ROLES]);
  return ROLES.filter((role) => rows.some(({ rolname }) => rolname === role));
}

/** @param {string} role */
function statementsOf(role) {
  const at = ROLES.indexOf(role);
  const grants = Object.entries(RIGHTS).flatMap(([table, rights]) =>
    rights[at] === NOTHING ? [] : [`GRANT ${rights[at]} ON ${table} TO ${role}`],
  );
  const calls = Object.entries(OWNER_FUNCTIONS).map(([signature, callers]) =>
    callers.includes(role)
      ? `GRANT EXECUTE ON FUNCTION ${signature} TO ${role}`
      : `REVOKE ALL ON FUNCTION ${signature} FROM ${role}`,
  );
  return [`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`, ...grants, ...calls];
}
