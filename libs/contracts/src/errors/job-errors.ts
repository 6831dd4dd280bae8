import type { JobErrorCode } from '../job';

/**
 * What each code of a failed job means, and what its owner can do (wire supplement, section 6): docs/errors.md and the console show it.
 */
export const JOB_ERROR_CATALOGUE: Record<JobErrorCode, { cause: string; cure: string }> = {
  node_execution_error: {
    cause: 'A node of the graph failed. The error names the node and its class, with the traceback of the engine.',
    cure: 'Look at the node and the traceback, change its inputs, and run the graph again.',
  },
  worker_lost: {
    cause: 'The worker was lost while it ran the job, and no attempt is left.',
    cure: 'Run it again. If it happens again, give the job id to who runs the service.',
  },
  engine_error: {
    cause: 'The engine ended or stopped answering, and no attempt is left.',
    cure: 'Run it again. If it happens again, give the job id to who runs the service.',
  },
  input_unavailable: {
    cause: 'A file that the graph names could not be read, or no worker has room for its models.',
    cure: 'Upload the file again, and refer to the new asset; where the message says that there is no room, use smaller models.',
  },
  output_storage_error: {
    cause: 'An output could not be stored.',
    cure: 'Run it again. If it happens again, give the job id to who runs the service.',
  },
  execution_timeout: {
    cause: 'The graph ran for longer than a job may.',
    cure: 'Make the graph smaller: fewer steps, a smaller picture, a smaller batch.',
  },
  credential_unavailable: {
    cause:
      'The credential for partner nodes, which is kept for one run and never stored, was lost before the job started.',
    cure: 'Submit the graph again, with the credential of its partner nodes.',
  },
  credits_exhausted: {
    cause: 'The account ran out of credits while the job ran, or the job reached the limit that its submission set.',
    cure: 'Add credits to the account or raise the limit, then run the graph again.',
  },
};
