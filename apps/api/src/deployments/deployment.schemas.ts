import { z } from 'zod';
import { DEPLOYMENT_LIMITS, DEPLOYMENT_STATES, TimestampSchema } from '@millrace/contracts';
import { ENGINE_KINDS, WARM_UP_BYTES, engineClassName } from '@millrace/deployments';
import { pageSchema, recordName } from '../endpoints';
import { SMALL_BODY_BYTES } from '../http';

const MOST_MODELS = 64;
export const ModelNameSchema = z
  .strictObject({
    folder: z.string().min(1).max(64).meta({ description: "ComfyUI's folder, such as `checkpoints`." }),
    name: z.string().min(1).max(240).meta({ description: 'As loader nodes name it, such as `sdxl/base.safetensors`.' }),
  })
  .meta({ id: 'ModelName', description: 'What a model of the library is called.' });

const fields = {
  id: z.uuid(),
  name: z.string(),
  version: z
    .int()
    .meta({ description: 'The version that all of these fields are of: `GET …/versions` shows a second one.' }),
  state: z.enum(DEPLOYMENT_STATES).meta({
    description:
      '`provisioning` until its first worker registers, `starting` while no worker is ready, `ready`, `stopped` until an ' +
      'operator starts it. It takes jobs while it is ready.',
  }),
  state_reason: z
    .string()
    .nullable()
    .meta({ description: 'Why its workers, or its `models`, are not as wanted; null where there is nothing to say.' }),
  path: z.string().meta({ description: 'Prefix under which its API is mounted: `<path>/api/v2`.' }),
  host: z
    .string()
    .nullable()
    .meta({ description: 'Host of its own, where its API has no prefix; null where hosts are not set up.' }),
  demo: z.boolean().meta({ description: 'Admits callers without a credential.' }),
  engine: z.string().meta({ description: 'The engine that runs its workflows.' }),
  engine_class: z.string().meta({ description: 'What its workers run on: `GET /platform/v1/engine-classes`.' }),
  price_micros_per_second: z.int().meta({ description: 'Micro-credits for a second of engine time.' }),
  queue_limit: z.int().nullable().meta({ description: "Jobs that may wait in it; null means the service's limit." }),
  attempt_limit_seconds: z
    .int()
    .nullable()
    .meta({ description: "How long one attempt of a job may take, in seconds; null means the service's limit." }),
  min_workers: z.int().meta({ description: 'Workers kept when there is no work.' }),
  max_workers: z.int(),
  idle_seconds: z
    .int()
    .meta({ description: 'How long workers without work are kept beyond `min_workers`, in seconds.' }),
  warm_up: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'Graph in API format that a worker runs before it is ready; null: none.' }),
  models: z.array(ModelNameSchema).meta({
    description: 'Models of the library that a worker has before it is ready, in the order in which they come.',
  }),
  ready_workers: z.int().meta({ description: 'Workers that are ready now.' }),
  created_at: TimestampSchema,
  started_at: TimestampSchema.meta({ description: 'When it was last started, or created.' }),
  stopped_at: TimestampSchema.nullable().meta({ description: 'When it was stopped; null unless it is stopped.' }),
  first_ready_at: TimestampSchema.nullable(),
  deleting_at: TimestampSchema.nullable().meta({
    description: 'When it was to be deleted: it takes no more jobs, and goes when those that it has are over.',
  }),
};

export const DeploymentSchema = z
  .object(fields)
  .meta({ id: 'Deployment', description: 'A deployment, as the keys of its account see it.' });

export const DeploymentListSchema = z
  .object({ deployments: z.array(DeploymentSchema) })
  .meta({ id: 'DeploymentList', description: 'All deployments of an account, newest first.' });

/** What operators see of a graph that is a customer's. */
export const warmUpDigest = z
  .string()
  .nullable()
  .meta({ description: 'Of the graph that a worker runs before it is ready: its SHA-256 and its nodes; null: none.' });

export const OperatedDeploymentSchema = z
  .object({
    ...fields,
    warm_up: warmUpDigest,
    account_id: z.uuid(),
    pool: z.string().meta({ description: 'Pool that its workers serve: their MILLRACE_POOL.' }),
  })
  .meta({ id: 'OperatedDeployment', description: 'A deployment, as operators see it.' });

export const OperatedDeploymentPageSchema = pageSchema(
  'deployments',
  OperatedDeploymentSchema,
  'OperatedDeploymentPage',
);

const within = (field: keyof typeof DEPLOYMENT_LIMITS): z.ZodInt =>
  z.int().min(DEPLOYMENT_LIMITS[field].least).max(DEPLOYMENT_LIMITS[field].most);
const limits = {
  queue_limit: within('queue_limit')
    .nullable()
    .default(null)
    .meta({ description: "Jobs that may wait in it; null means the service's limit." }),
  attempt_limit_seconds: within('attempt_limit_seconds')
    .nullable()
    .default(null)
    .meta({ description: "How long one attempt of a job may take, in seconds; null means the service's limit." }),
};
const scale = {
  min_workers: within('min_workers').default(0).meta({ description: 'Workers kept when there is no work.' }),
  max_workers: within('max_workers').optional().meta({ description: 'Absent: 1, or `min_workers` if that is more.' }),
  idle_seconds: within('idle_seconds')
    .default(300)
    .meta({ description: 'How long workers without work are kept beyond `min_workers`, in seconds.' }),
};
/** The most bytes of a body that has a graph of a warm-up, beside all else of it. */
export const WARM_UP_BODY_BYTES = WARM_UP_BYTES + SMALL_BODY_BYTES;

const warmUp = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({
    description:
      'Graph in API format that a worker runs before it is ready, and again after its engine has restarted; it is not billed. It ' +
      `refers to no assets, and has ${WARM_UP_BYTES / 1024} KiB at most. Null: none.`,
  });
const models = z
  .array(ModelNameSchema)
  .max(MOST_MODELS)
  .superRefine((named, context) => {
    const seen = new Set<string>();
    for (const [index, { folder, name }] of named.entries()) {
      const whole = `${folder}/${name}`;
      if (seen.has(whole)) context.addIssue({ code: 'custom', path: [index], message: `names ${whole} again` });
      seen.add(whole);
    }
  })
  .meta({
    description:
      "Models of the account's library, or shared with it, that a worker fetches before it is ready, in this order; " +
      'a worker that runs fetches what is added. Those that its cache cannot hold are left out, and `state_reason` says so.',
  });
export const price = within('price_micros_per_second');
const engineClass = engineClassName.meta({
  description: 'What its workers run on: `GET /platform/v1/engine-classes`.',
});
const inOrder = (draft: { min_workers: number; max_workers?: number | undefined }): boolean =>
  (draft.max_workers ?? draft.min_workers) >= draft.min_workers;
const outOfOrder = { path: ['max_workers'], error: 'must be at least min_workers' };

export const DeploymentCreateSchema = z
  .object({
    account_id: z.uuid().meta({ description: 'The account whose keys may use it.' }),
    name: recordName,
    demo: z.boolean().default(false).meta({
      description:
        'Admit callers without a credential: those of one network share an account, and none of them sees job lists or logs.',
    }),
    engine: z.enum(ENGINE_KINDS).default('cpu').meta({
      description: 'The engine for its workers to run: the class of this name, unless `engine_class` is given.',
    }),
    engine_class: engineClass.optional(),
    warm_up: warmUp.default(null),
    models: models.default([]),
    price_micros_per_second: price.optional().meta({
      description: "Absent: 0 for a demo, else the price of its class, else the service's.",
    }),
    ...limits,
    ...scale,
  })
  .refine(inOrder, outOfOrder)
  .meta({ id: 'DeploymentCreate', description: 'A new deployment.' });

export const OwnDeploymentCreateSchema = z
  .strictObject({
    name: recordName,
    engine_class: engineClass,
    warm_up: warmUp.default(null),
    models: models.default([]),
    ...limits,
    ...scale,
  })
  .refine(inOrder, outOfOrder)
  .meta({
    id: 'OwnDeploymentCreate',
    description: 'A new deployment of the account. It costs the price of its class.',
  });

export const changes = {
  name: recordName.optional(),
  engine_class: engineClass.optional(),
  warm_up: warmUp.optional(),
  models: models.optional(),
  queue_limit: limits.queue_limit.unwrap().optional(),
  attempt_limit_seconds: limits.attempt_limit_seconds.unwrap().optional(),
  min_workers: scale.min_workers.unwrap().optional(),
  max_workers: scale.max_workers,
  idle_seconds: scale.idle_seconds.unwrap().optional(),
};

export const OwnDeploymentUpdateSchema = z.strictObject(changes).meta({
  id: 'OwnDeploymentUpdate',
  description:
    'Changes of a deployment. An absent field keeps its value. With another class comes a version of another number, at the price of that class.',
});

export const DeploymentUpdateSchema = z
  .strictObject({ ...changes, price_micros_per_second: price.optional() })
  .meta({ id: 'DeploymentUpdate', description: 'Changes of a deployment. An absent field keeps its value.' });

export const DeploymentRemovalQuery = z.object({
  drain: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'Take no more jobs, and delete it when those that it has are over.' }),
});

export const DeploymentChangePageSchema = pageSchema(
  'changes',
  z
    .object({
      id: z.uuid(),
      at: TimestampSchema,
      actor: z
        .string()
        .meta({ description: '`operator`, `api_key:<id>` where a key of the account acted, or `member:<id>`.' }),
      action: z.string().meta({ description: 'What was done, e.g. `deployment.update`.' }),
      details: z.record(z.string(), z.unknown()).meta({ description: 'What was set.' }),
    })
    .meta({ id: 'DeploymentChange', description: 'One act on a deployment.' }),
  'DeploymentChangePage',
);
