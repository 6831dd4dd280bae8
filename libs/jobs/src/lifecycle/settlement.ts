/*
 * What is charged for a job: `SETTLEMENT` says, for every way in which an attempt can end, what is billed of its engine time.
 * `settlement.store.ts` is what the statements make of the answer, `chargePart` of `libs/billing` the price of it.
 */

/** What is billed of the attempt that ended. */
export const BILLED = [
  /** The engine time that its worker reports with the end, and at most the time since the claim. */
  'billable',
  /** Nothing. */
  'waived',
  /** The engine time of the last heartbeat; nothing where the lease has run out, because the worker is lost then. */
  'as_last_reported',
] as const;
export type Billed = (typeof BILLED)[number];

/** Ends of a job that the worker which holds the lease reports, with the engine time. */
export const REPORTED_ENDINGS = [
  'succeeded',
  /** A node of the graph failed. */
  'node_failed',
  /** The engine could not run the graph, or not finish it. */
  'engine_failed',
  /** The engine could not read an input that was staged for it. */
  'input_rejected',
  /** An output could not be stored or recorded, because the blob store or the database failed. */
  'output_not_stored',
  /** An output that nothing can store or record as the graph made it: too large, too many, a node id that is too long. */
  'output_refused',
  /** The engine was lost with the last attempt of its job: it runs nobody else's graph meanwhile. */
  'engine_lost',
  /** An input could not be brought to the worker: the engine did not start. */
  'input_not_staged',
  /** The credentials of the job were lost before the engine started. */
  'credentials_lost',
  /** The run used up all that its account could hold for it. */
  'credits_exhausted',
  /** The attempt reached its time limit, and its worker stopped it. */
  'overtime',
  /** It was asked to stop while it ran. */
  'canceled_while_running',
] as const;
export type ReportedEnding = (typeof REPORTED_ENDINGS)[number];

/** Ends of a job of whose last attempt nobody reports the engine time. */
export const UNREPORTED_ENDINGS = [
  'canceled_while_queued',
  'canceled_between_attempts',
  /** It was to be canceled, and its worker was lost first. */
  'canceled_with_worker_lost',
  /** The worker of its last attempt was lost. */
  'attempts_used_up',
  /** The worker of its last attempt met an error of its own. */
  'worker_failed',
  /** The attempt passed its time limit, and its worker did not stop it. */
  'overtime_passed',
  'deadline_passed',
] as const;
export type UnreportedEnding = (typeof UNREPORTED_ENDINGS)[number];

/** Ends of an attempt after which its job waits for the next. */
export const RELEASES = [
  /** Its worker stops. */
  'handed_back',
  /** Its worker lost the engine, or met an error of its own. */
  'given_up',
  /** Its worker was lost. */
  'taken_back',
] as const;
export type Release = (typeof RELEASES)[number];

type Settlement = Record<ReportedEnding, Billed> & Record<UnreportedEnding | Release, Exclude<Billed, 'billable'>>;

/**
 * The rule of charging: engine time that the customer's own graph used is billed however it ends, unless the fault is
 * provably ours. A job that was canceled meanwhile is billed by the end that was reported.
 *
 * An attempt that its engine lost is waived while its job may still succeed. A job that ends in another way, and is not
 * waived, is billed at least for the longest such attempt: a graph that ends the engine after its outputs were delivered is not
 * free by being canceled.
 *
 * What is waived is not delivered either: the statement that ends the job withdraws its outputs, where the job has a price.
 */
export const SETTLEMENT: Settlement = {
  succeeded: 'billable',
  node_failed: 'billable',
  engine_failed: 'billable',
  input_rejected: 'waived',
  output_not_stored: 'waived',
  output_refused: 'billable',
  engine_lost: 'billable',
  input_not_staged: 'waived',
  credentials_lost: 'waived',
  credits_exhausted: 'billable',
  overtime: 'billable',
  canceled_while_running: 'billable',

  canceled_while_queued: 'waived',
  canceled_between_attempts: 'as_last_reported',
  canceled_with_worker_lost: 'waived',
  attempts_used_up: 'waived',
  worker_failed: 'waived',
  overtime_passed: 'as_last_reported',
  deadline_passed: 'as_last_reported',

  handed_back: 'waived',
  given_up: 'waived',
  taken_back: 'waived',
};

/**
 * A sentence for the message of a failure whose attempt costs nothing, with a space before it; empty where it is billed. Of the attempt, not of the
 * job: that is charged for attempts which its policy had tried again.
 */
export function waivedNote(ending: ReportedEnding | UnreportedEnding): string {
  return SETTLEMENT[ending] === 'waived' ? ' This attempt was not charged.' : '';
}

/** The end of a message about a job that failed through no fault of its own: what its attempt cost, and what to do. */
export function resubmitAdvice(ending: ReportedEnding | UnreportedEnding): string {
  return `${waivedNote(ending)} Submit the job again.`.trimStart();
}
