import { z } from 'zod';
import { JobErrorSchema, JobStatusSchema } from './job';
import { RetryPolicySchema } from './retry-policy';

/** A job's graph as it was submitted; `format` says that it can be submitted again as it is. */
export const JobWorkflowSchema = z
  .object({
    workflow: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The graph, character for character as it was submitted.' }),
    format: z.literal('api'),
  })
  .meta({ id: 'JobWorkflow', description: 'The graph of a job. Never contains `extra_data`.' });

/**
 * How an attempt of a job ended. `lost`: with its worker or its engine. `handed_back`: its worker was stopped, or had no room for its
 * models.
 */
const ATTEMPT_OUTCOMES = ['succeeded', 'failed', 'canceled', 'expired', 'lost', 'handed_back'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];
const ATTEMPT_CHARGES = ['charged', 'not_charged'] as const;
export type AttemptCharge = (typeof ATTEMPT_CHARGES)[number];

export const JobAttemptsSchema = z
  .object({
    attempts: z.array(
      z.object({
        number: z.int().min(1),
        started_at: z.iso.datetime(),
        ended_at: z.iso.datetime().nullable(),
        outcome: z.enum(ATTEMPT_OUTCOMES).nullable().meta({ description: 'Null while the attempt runs.' }),
        message: z.string().meta({ description: 'How it ended, in a sentence for people.' }),
        error: JobErrorSchema.nullable().meta({
          description:
            'Of an attempt that was tried again by policy, that ended a failed job, or whose worker had no room for its models.',
        }),
        engine_ms: z
          .int()
          .nullable()
          .meta({ description: 'Engine time in milliseconds; null where no worker reported it.' }),
        charge: z
          .enum(ATTEMPT_CHARGES)
          .nullable()
          .meta({ description: 'Null while that is not decided, and where jobs have no price.' }),
      }),
    ),
    retry: RetryPolicySchema.extend({
      used: z.int().min(0).meta({ description: 'Retries so far.' }),
      next_at: z.iso.datetime().nullable().meta({ description: 'When the pause before the next attempt is over.' }),
    })
      .nullable()
      .meta({ id: 'JobRetries', description: 'The retry policy of the job; null where it has none.' }),
  })
  .meta({ id: 'JobAttempts', description: 'The attempts of a job, the first one first; none while it is queued.' });
export type JobAttempts = z.infer<typeof JobAttemptsSchema>;

/** What keeps a job from running. */
const WAITING_REASONS = [
  'deployment_stopped',
  'no_workers',
  'workers_starting',
  'workers_without_room',
  'running_limit',
  'retry_pause',
  'workers_busy',
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

export const JobStandingSchema = z
  .object({
    id: z.uuid(),
    status: JobStatusSchema,
    waiting_reason: z
      .object({
        code: z.enum(WAITING_REASONS).meta({
          description:
            '`deployment_stopped`; `no_workers`: none is there, and none comes; `workers_starting`: none is ready yet; ' +
            '`workers_without_room`: those that have room for its models are busy; `running_limit`: the account runs as many jobs as it ' +
            'may; `retry_pause`: the pause before another attempt; `workers_busy`: they run other jobs.',
        }),
        message: z.string().meta({ description: 'The same in a sentence for people.' }),
      })
      .nullable()
      .meta({
        id: 'JobWaitingReason',
        description: 'Null while a worker has the job, and once it is being canceled or has ended.',
      }),
  })
  .meta({ id: 'JobStanding', description: 'Where a job stands, and what it waits for, as it is now.' });
export type JobStanding = z.infer<typeof JobStandingSchema>;

/** How far a node of an attempt came. */
const NODE_STATES = ['done', 'cached', 'running', 'failed'] as const;

export const JobNodesSchema = z
  .object({
    nodes: z.array(
      z.object({
        node_id: z.string(),
        class_type: z.string(),
        state: z.enum(NODE_STATES),
        ms: z.int().nullable().meta({ description: 'Milliseconds that the node took; null when it never ended.' }),
      }),
    ),
  })
  .meta({ id: 'JobNodes', description: 'Times of the nodes of the last attempt; empty until it has ended.' });
export type JobNodes = z.infer<typeof JobNodesSchema>;
