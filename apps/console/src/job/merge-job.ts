import type { Job, Output, StatusEvent } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';
import { keepLinks } from '../api/keep-links';

/**
 * A job as its next event shows it. What is known stays where the event says less: progress, logs, outputs that were left out,
 * and links that still work, so that pictures are not loaded again.
 */
export function mergeJob(known: Job, event: StatusEvent): Job {
  // An event of before the last poll: nothing leaves a terminal state (contract, section 3).
  if (isEnded(known.status) && !isEnded(event.status)) return known;
  const { outputs_left_out: _, ...job } = event;
  const outputs = keepLinks(known.outputs, job.outputs);
  return {
    ...known,
    ...job,
    progress: job.progress ?? known.progress,
    outputs: outputs.length >= known.outputs.length ? outputs : known.outputs,
  };
}

/** A job with an output that was committed just now. */
export function withOutput(known: Job, output: Output): Job {
  return known.outputs.some(({ id, name }) => id === output.id && name === output.name)
    ? known
    : { ...known, outputs: [...known.outputs, output] };
}
