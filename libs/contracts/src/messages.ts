import { z } from 'zod';

/** A message in a pool's lane: an attempt of a job may wait to be claimed. Never state: Postgres decides. */
export const DispatchMessageSchema = z.object({
  jobId: z.uuid(),
  attempt: z.int().min(1),
  /** W3C trace context of the submission, so that the worker's spans join the trace. */
  traceparent: z.string().optional(),
  /** Files of weights that the job loads. A worker that lacks them may leave the attempt to another. */
  models: z.array(z.string()).optional(),
  /** How often workers have run another attempt first; absent means never. */
  passed: z.int().min(0).optional(),
  /** Of a message that a worker leaves: after how many milliseconds it is to be offered again. Absent: soon. */
  restMs: z.int().min(0).max(10_000).optional(),
});
export type DispatchMessage = z.infer<typeof DispatchMessageSchema>;

/** A message to the workers of a pool. Lossy: the next heartbeat reports the same. */
export const ControlMessageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('cancel'), jobId: z.uuid() }),
  z.object({ kind: z.literal('drain'), workerId: z.uuid() }),
]);
export type ControlMessage = z.infer<typeof ControlMessageSchema>;
