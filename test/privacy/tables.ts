/**
 * Tables of which the canary makes no row that belongs to the account: an operator's, the fleet's, payments, what a
 * visitor of the sign-in page leaves, and inputs and turns, which are of jobs that have not ended. A new table is filled by `fillAccount` in `canary.e2e-spec.ts`, or named here.
 */
export const NOT_FILLED = [
  ...['_prisma_migrations', 'account_turns', 'catalogues', 'engine_classes', 'erasures', 'fleet_groups'],
  ...[
    'fleet_leases',
    'job_count_progress',
    'job_inputs',
    'ledger_audit_progress',
    'ledger_days',
    'operator_sessions',
    'operator_tokens',
  ],
  ...['payment_events', 'payment_reversals', 'sign_in_requests', 'top_ups', 'worker_tokens', 'workers'],
];
/** What still names an erased account or anything it had, by ids alone: the books, and that it was closed and erased. */
export const KEPT = [
  ...['account_queues', 'account_storage', 'accounts', 'api_keys', 'audit_log', 'audit_segments', 'balances'],
  ...[
    'credit_lots',
    'deployment_versions',
    'deployments',
    'erasures',
    'ledger_entries',
    'ledger_transactions',
    'members',
    'pools',
  ],
  ...['usage_records', 'webhook_endpoints'],
];
