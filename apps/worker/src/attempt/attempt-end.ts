import type { EngineFailure, EngineResult } from '@millrace/engines';
import { OVERTIME, resubmitAdvice, type AttemptLoss, type JobFailure, type ReportedEnding } from '@millrace/jobs';
import type { LeaseEnd } from './lease-keeper';
import type { OutputsEnd } from './output-pipeline';

/** How an attempt ended for its worker: with its job, or without an end that this worker may write. */
export type AttemptEnd =
  | { kind: 'finished'; ending: ReportedEnding; failure: JobFailure | null }
  /** The worker drains: another one runs the attempt again, and none is used up. */
  | { kind: 'handed_back' }
  /** The job gets another attempt, if it has any left. */
  | { kind: 'given_up'; loss: Loss }
  /** Another worker may have the attempt by now: nothing more is written. */
  | { kind: 'lease_lost' };

/** How the attempt was lost; its engine time is known when it is reported. */
export type Loss = Pick<AttemptLoss, 'by' | 'reason'>;

/** What the end of an attempt follows from. */
export interface AttemptFacts {
  run: EngineResult;
  /** Why the run was interrupted; null where nothing ended the lease. */
  lease: LeaseEnd | null;
  outputs: OutputsEnd;
}

/** The end of an attempt whose engine reports a failure, by its code. */
const ENDING_OF_FAILURE: Record<EngineFailure['code'], ReportedEnding> = {
  node_execution_error: 'node_failed',
  engine_error: 'engine_failed',
  input_unavailable: 'input_rejected',
};

/** Node ids in messages are cut to this length. */
const SHOWN_ID = 100;

const CREDITS_EXHAUSTED: JobFailure = {
  code: 'credits_exhausted',
  message: 'The run used up the credits of its account and was stopped. Add credits and submit the job again.',
};

/**
 * The end of an attempt whose engine has settled. Outputs that landed before a failure or a cancel are kept; what each ending
 * costs is for `@millrace/jobs` to say.
 */
export function endOf({ run, lease, outputs }: AttemptFacts): AttemptEnd {
  if (outputs.status === 'lease_lost' || lease === 'lost') return { kind: 'lease_lost' };
  // It has ended the run as well, unless that had ended before.
  if (outputs.status === 'refused' && run.status !== 'failed') return outputRefused(outputs);
  switch (run.status) {
    case 'lost':
      return { kind: 'given_up', loss: { by: 'engine', reason: run.reason } };
    case 'disk_failed':
      return { kind: 'given_up', loss: { by: 'worker', reason: run.reason } };
    case 'interrupted':
      if (lease === 'exhausted') return finished('credits_exhausted', CREDITS_EXHAUSTED);
      if (lease === 'overtime') return finished('overtime', OVERTIME);
      return lease === 'canceled' ? finished('canceled_while_running') : { kind: 'handed_back' };
    case 'failed':
      return finished(ENDING_OF_FAILURE[run.failure.code], jobFailure(run.failure));
    case 'succeeded':
      return outputs.status === 'failed' ? notStored(outputs.reason) : finished('succeeded');
  }
}

/** The end of an attempt that ends its job. */
export function finished(ending: ReportedEnding, failure: JobFailure | null = null): AttemptEnd {
  return { kind: 'finished', ending, failure };
}

function notStored(reason: string): AttemptEnd {
  const message = `An output could not be stored: ${reason}. ${resubmitAdvice('output_not_stored')}`;
  return finished('output_not_stored', { code: 'output_storage_error', message });
}

function outputRefused({ nodeId, reason }: { nodeId: string; reason: string }): AttemptEnd {
  const message = `An output of node ${nodeId.slice(0, SHOWN_ID)} could not be kept: ${reason}.`;
  return finished('output_refused', { code: 'node_execution_error', message, node_id: nodeId });
}

function jobFailure({ code, message, nodeId, classType, traceback }: EngineFailure): JobFailure {
  return { code, message, node_id: nodeId, class_type: classType, traceback };
}
