import { STATUS_EVENT_OUTPUT_BYTES, type Job, type StatusEvent } from '@millrace/contracts';

/** What a `status` event shows of a job: all of it, and of its outputs the first, where all would be too large for a frame. */
export function statusEventOf(job: Job): StatusEvent {
  let bytes = 0;
  const first = job.outputs.findIndex((output) => {
    bytes += Buffer.byteLength(JSON.stringify(output)) + 1;
    return bytes > STATUS_EVENT_OUTPUT_BYTES;
  });
  if (first === -1) return job;
  return { ...job, outputs: job.outputs.slice(0, first), outputs_left_out: job.outputs.length - first };
}
