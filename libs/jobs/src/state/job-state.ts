import type { JobStatus } from '@millrace/contracts';

/**
 * Every move of a job's public status, and what brings it about (contract, section 3; wire supplement, section 6). The rule
 * `job_transitions_table_check` of the database says the same, and a test compares the two.
 */
export const TRANSITIONS = [
  { from: null, to: 'queued', by: 'a submission' },
  { from: 'queued', to: 'running', by: 'the first claim of a worker' },
  { from: 'queued', to: 'canceled', by: 'a cancel request' },
  { from: 'queued', to: 'expired', by: 'the execution deadline' },
  { from: 'queued', to: 'succeeded', by: 'the outputs of an earlier job, in the statement of the submission' },
  { from: 'running', to: 'succeeded', by: 'the worker that holds the lease' },
  { from: 'running', to: 'failed', by: 'the worker that holds the lease, or the last attempt being lost' },
  { from: 'running', to: 'expired', by: 'the execution deadline' },
  { from: 'running', to: 'canceling', by: 'a cancel request' },
  { from: 'canceling', to: 'canceled', by: 'the worker that holds the lease, or its loss' },
] as const satisfies readonly { from: JobStatus | null; to: JobStatus; by: string }[];

/**
 * Where a live job is on its way to an engine. `waiting`: in Postgres, for the dispatcher. `dispatched`: its next attempt is
 * in the pool's lane. `leased`: a worker runs an attempt. `paused`: it waits for the time of a retry that its policy asked for; it
 * keeps its place among the account's jobs in flight. `done`: the status is terminal. Not public: a job whose worker was lost is
 * `waiting` again while its status stays `running`.
 */
export const DELIVERIES = ['waiting', 'dispatched', 'leased', 'paused', 'done'] as const;
export type Delivery = (typeof DELIVERIES)[number];
