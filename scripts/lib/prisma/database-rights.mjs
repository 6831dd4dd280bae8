/*
 * What each process may do with each table, where it connects as a member of a role of its own. With one user for everything,
 * who owns the tables, none of this applies.
 */

/** The roles, one for each process. An operator makes them; where one is missing, nothing is granted. */
export const ROLES = ['millrace_api', 'millrace_worker', 'millrace_maintenance'];

const READ = 'SELECT';
const APPEND = 'SELECT, INSERT';
const CHANGE = 'SELECT, UPDATE';
const WRITE = 'SELECT, INSERT, UPDATE';
const REMOVE = 'SELECT, DELETE';
const SWEEP = 'SELECT, UPDATE, DELETE';
const ALL = 'SELECT, INSERT, UPDATE, DELETE';
const NOTHING = '';
/** To see which keys expire, and to note that it was said; to take what names somebody from those that are erased. It never reads the hash of a key. */
const NOTE_EXPIRY =
  'SELECT (id, account_id, name, last_four, labels, created_at, expires_at, revoked_at, expiry_notice_days), ' +
  'UPDATE (expiry_notice_days, name, labels, key_hash)';
/** To delete those of networks, and to take its name from one that is erased. */
const FORGET_ACCOUNT = 'SELECT, UPDATE (name, submission_defaults, updated_at), DELETE';
/** Amounts are only appended to; why something was posted may be struck out. */
const APPEND_AND_REDACT = 'SELECT, INSERT, UPDATE (reason)';

/**
 * By table: the rights of the api, the worker and the maintenance process. Nobody of them may truncate a table, change what is
 * only appended to, or make anything. Locking a row takes the right to update it. What moves a job is in all three processes.
 *
 * @type {Record<string, [api: string, worker: string, maintenance: string]>}
 */
export const RIGHTS = {
  _prisma_migrations: [READ, READ, READ],
  account_queues: [WRITE, WRITE, ALL],
  account_storage: [WRITE, WRITE, ALL],
  accounts: [WRITE, NOTHING, FORGET_ACCOUNT],
  api_keys: [WRITE, NOTHING, NOTE_EXPIRY],
  assets: [ALL, WRITE, ALL],
  audit_log: [APPEND, NOTHING, NOTHING],
  balances: [WRITE, WRITE, WRITE],
  batch_retries: [APPEND, NOTHING, REMOVE],
  batches: [WRITE, NOTHING, SWEEP],
  blobs: [WRITE, WRITE, ALL],
  catalogues: [READ, WRITE, SWEEP],
  console_sessions: [ALL, NOTHING, REMOVE],
  credit_lots: [WRITE, NOTHING, WRITE],
  deployment_versions: [WRITE, CHANGE, CHANGE],
  deployments: [WRITE, CHANGE, CHANGE],
  engine_classes: [READ, NOTHING, WRITE],
  erasures: [APPEND, NOTHING, CHANGE],
  export_attempts: [READ, NOTHING, 'SELECT, INSERT, DELETE'],
  export_deliveries: [WRITE, NOTHING, ALL],
  export_destinations: [ALL, NOTHING, SWEEP],
  fleet_groups: [READ, NOTHING, WRITE],
  fleet_leases: [READ, NOTHING, WRITE],
  idempotency_keys: [WRITE, NOTHING, SWEEP],
  job_attempts: [WRITE, WRITE, WRITE],
  job_graphs: [APPEND, READ, READ],
  job_inputs: [ALL, SWEEP, SWEEP],
  job_logs: [WRITE, WRITE, WRITE],
  job_outputs: [SWEEP, ALL, SWEEP],
  job_transitions: [APPEND, APPEND, APPEND],
  jobs: [WRITE, CHANGE, SWEEP],
  label_rules: [ALL, READ, REMOVE],
  label_use: [WRITE, WRITE, ALL],
  ledger_audit_progress: [NOTHING, NOTHING, WRITE],
  ledger_entries: [APPEND, APPEND, APPEND],
  ledger_transactions: [APPEND, APPEND, APPEND_AND_REDACT],
  models: [ALL, CHANGE, SWEEP],
  operator_sessions: [ALL, NOTHING, REMOVE],
  operator_tokens: [WRITE, NOTHING, NOTHING],
  payment_events: [APPEND, NOTHING, READ],
  payment_reversals: [WRITE, NOTHING, WRITE],
  pools: [WRITE, WRITE, WRITE],
  resumable_uploads: [ALL, NOTHING, ALL],
  sign_in_links: [ALL, NOTHING, REMOVE],
  storage_reservations: [ALL, NOTHING, ALL],
  top_ups: [WRITE, NOTHING, WRITE],
  upload_days: [WRITE, NOTHING, ALL],
  usage_records: [APPEND, APPEND, WRITE],
  webhook_attempts: [READ, NOTHING, 'SELECT, INSERT, DELETE'],
  webhook_endpoints: [WRITE, READ, SWEEP],
  webhook_messages: [WRITE, APPEND, ALL],
  webhook_secrets: [WRITE, NOTHING, SWEEP],
  worker_tokens: [WRITE, CHANGE, NOTHING],
  workers: [CHANGE, WRITE, SWEEP],
};

/**
 * Functions that run with the rights of the owner, and the one role that may call each. Only the maintenance process ends the
 * lives of rows, and it may not delete from the audit log, nor strike out in it, but through these.
 *
 * @type {Record<string, string>}
 */
export const OWNER_FUNCTIONS = {
  'sweep_audit_log(bigint, integer)': 'millrace_maintenance',
  'redact_audit_log(uuid, text[], uuid, integer)': 'millrace_maintenance',
};

/**
 * Give the roles that exist exactly these rights, in one transaction: processes at work notice nothing.
 *
 * @param {import('pg').Client} client connected as the owner of the tables
 * @returns {Promise<string[]>} the roles
 */
export async function grantRights(client) {
  /** @type {import('pg').QueryResult<{ rolname: string }>} */
  const { rows } = await client.query('SELECT rolname FROM pg_roles WHERE rolname = ANY($1)', [ROLES]);
  const roles = ROLES.filter((role) => rows.some(({ rolname }) => rolname === role));
  if (roles.length > 0) await client.query(`BEGIN; ${roles.flatMap(statementsOf).join('; ')}; COMMIT`);
  return roles;
}

/** @param {string} role */
function statementsOf(role) {
  const at = ROLES.indexOf(role);
  const grants = Object.entries(RIGHTS).flatMap(([table, rights]) =>
    rights[at] === NOTHING ? [] : [`GRANT ${rights[at]} ON ${table} TO ${role}`],
  );
  const calls = Object.entries(OWNER_FUNCTIONS).map(([signature, caller]) =>
    caller === role
      ? `GRANT EXECUTE ON FUNCTION ${signature} TO ${role}`
      : `REVOKE ALL ON FUNCTION ${signature} FROM ${role}`,
  );
  return [`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`, ...grants, ...calls];
}
