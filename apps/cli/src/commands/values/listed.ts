/** What of a record matters most in a list, by what is listed: a narrow terminal has no room for the rest. */
export const LISTED = {
  keys: ['id', 'name', 'status', 'labels', 'last_used_at', 'expires_at', 'scopes', 'allowed_addresses'],
  /** Nothing is asked for by the id of an act. */
  acts: ['at', 'action', 'actor', 'subject_id', 'account_id', 'details', 'reason', 'address'],
  rules: ['id', 'label', 'value', 'max_jobs', 'daily_micros', 'monthly_micros', 'retention_seconds'],
  caps: ['id', 'key_id', 'label', 'value', 'daily_micros', 'day_micros', 'monthly_micros', 'month_micros'],
  deployments: [
    'id',
    'name',
    'state',
    'state_reason',
    'account_id',
    'engine_class',
    'ready_workers',
    'max_workers',
    'path',
  ],
  endpoints: ['id', 'url', 'enabled', 'disabled_reason', 'failing_since', 'events'],
  messages: ['id', 'type', 'state', 'created_at', 'job_id', 'batch_id'],
  workers: ['id', 'pool', 'state', 'problem', 'host', 'running_jobs', 'engine', 'version', 'last_seen_at'],
} as const satisfies Record<string, readonly string[]>;
