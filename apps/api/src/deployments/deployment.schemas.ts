import { z } from 'zod';
import { DEPLOYMENT_STATES, TimestampSchema } from '@millrace/contracts';
import { recordName } from '../endpoints';

const ENGINES = ['cpu', 'comfyui'] as const;

const fields = {
  id: z.uuid(),
  name: z.string(),
  state: z.enum(DEPLOYMENT_STATES).meta({
    description:
      '`provisioning` until its first worker registers, `starting` while no worker is ready, `ready`, `stopped` until an ' +
      'operator starts it. It takes jobs while it is ready.',
  }),
  path: z.string().meta({ description: 'Prefix under which its API is mounted: `<path>/api/v2`.' }),
  host: z
    .string()
    .nullable()
    .meta({ description: 'Host of its own, where its API has no prefix; null where hosts are not set up.' }),
  demo: z.boolean().meta({ description: 'Admits callers without a credential.' }),
  engine: z.string().meta({ description: 'The engine that runs its workflows.' }),
  price_micros_per_second: z.int().meta({ description: 'Micro-credits for a second of engine time.' }),
  queue_limit: z.int().nullable().meta({ description: "Jobs that may wait in it; null means the service's limit." }),
  attempt_limit_seconds: z
    .int()
    .nullable()
    .meta({ description: "How long one attempt of a job may take, in seconds; null means the service's limit." }),
  min_workers: z.int().meta({ description: 'Workers kept when there is no work.' }),
  max_workers: z.int(),
  ready_workers: z.int().meta({ description: 'Workers that are ready now.' }),
  created_at: TimestampSchema,
  started_at: TimestampSchema.meta({ description: 'When it was last started, or created.' }),
  stopped_at: TimestampSchema.nullable().meta({ description: 'When it was stopped; null unless it is stopped.' }),
  first_ready_at: TimestampSchema.nullable(),
};

export const DeploymentSchema = z
  .object(fields)
  .meta({ id: 'Deployment', description: 'A deployment, as the keys of its account see it.' });

export const DeploymentListSchema = z
  .object({ deployments: z.array(DeploymentSchema) })
  .meta({ id: 'DeploymentList', description: 'All deployments of an account, newest first.' });

export const OperatedDeploymentSchema = z
  .object({
    ...fields,
    account_id: z.uuid(),
    pool: z.string().meta({ description: 'Pool that its workers serve: their MILLRACE_POOL.' }),
  })
  .meta({ id: 'OperatedDeployment', description: 'A deployment, as operators see it.' });

const workers = z.int().max(10_000);

export const DeploymentCreateSchema = z
  .object({
    account_id: z.uuid().meta({ description: 'The account whose keys may use it.' }),
    name: recordName,
    demo: z.boolean().default(false).meta({
      description:
        'Admit callers without a credential: all of them share one account, and none of them sees job lists or logs.',
    }),
    engine: z
      .enum(ENGINES)
      .default('cpu')
      .meta({ description: 'The engine for its workers to run; they report the one that they do run.' }),
    price_micros_per_second: z
      .int()
      .min(0)
      .max(1_000_000_000_000)
      .optional()
      .meta({ description: "Absent: 0 for a demo, else the service's price." }),
    queue_limit: z
      .int()
      .min(1)
      .max(2_000_000_000)
      .nullable()
      .default(null)
      .meta({ description: "Jobs that may wait in it; null means the service's limit." }),
    attempt_limit_seconds: z
      .int()
      .min(1)
      .max(31_536_000)
      .nullable()
      .default(null)
      .meta({ description: "How long one attempt of a job may take, in seconds; null means the service's limit." }),
    min_workers: workers.min(0).default(0).meta({ description: 'Workers kept when there is no work.' }),
    max_workers: workers.min(1).optional().meta({ description: 'Absent: 1, or `min_workers` if that is more.' }),
  })
  .refine((draft) => (draft.max_workers ?? draft.min_workers) >= draft.min_workers, {
    path: ['max_workers'],
    error: 'must be at least min_workers',
  })
  .meta({ id: 'DeploymentCreate', description: 'A new deployment.' });
