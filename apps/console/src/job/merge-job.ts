import type { Job, Output, StatusEvent } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';

/** Links that work for less than this are replaced by fresh ones. */
const LINK_MARGIN_MS = 60_000;

/**
 * A job as its next event shows it. What is known stays where the event says less: progress, logs, outputs that were left out,
 * and links that still work, so that pictures are not loaded again.
 */
export function mergeJob(known: Job, event: StatusEvent): Job {
  // An event of before the last poll: nothing leaves a terminal state (contract, section 3).
  if (isEnded(known.status) && !isEnded(event.status)) return known;
  const { outputs_left_out: _, ...job } = event;
  const outputs = job.outputs.map((output) => keepLink(known.outputs, output));
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

function keepLink(known: readonly Output[], output: Output): Output {
  const before = known.find(({ id, name }) => id === output.id && name === output.name);
  return before !== undefined && Date.parse(before.url_expires_at) > Date.now() + LINK_MARGIN_MS ? before : output;
}
