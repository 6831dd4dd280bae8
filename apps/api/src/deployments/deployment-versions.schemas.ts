import { z } from 'zod';
import { DEPLOYMENT_STATES, TimestampSchema } from '@millrace/contracts';
import { pathText } from '../endpoints';
import { ModelNameSchema, changes, price, warmUpDigest } from './deployment.schemas';

const weight = z.int().min(0).max(100);

const LatestJobsSchema = z
  .object({
    ended: z.int().meta({ description: 'Jobs that have ended, in any way.' }),
    succeeded: z.int(),
    failed: z.int(),
    median_engine_ms: z.int().nullable().meta({
      description: 'Engine time charged for those that succeeded with a run of their own; null where none has.',
    }),
    median_charged_micros: z.int().nullable().meta({ description: 'What the same were charged.' }),
  })
  .meta({ description: 'How its jobs came out, among the latest 5,000 of the deployment.' });

const VersionSchema = z
  .object({
    version: z.int().meta({ description: 'Its number: 1 for the first.' }),
    live: z.boolean().meta({ description: 'It can take jobs. False: it has ended.' }),
    weight: z.int().meta({ description: 'Jobs that run on it, in percent of all.' }),
    state: z
      .enum(DEPLOYMENT_STATES)
      .nullable()
      .meta({ description: 'As of a deployment; null for one that has ended.' }),
    state_reason: z.string().nullable(),
    ready_workers: z.int(),
    engine_class: z.string(),
    price_micros_per_second: z.int().nullable(),
    queue_limit: z.int().nullable(),
    attempt_limit_seconds: z.int().nullable(),
    min_workers: z.int().nullable(),
    max_workers: z.int().nullable(),
    idle_seconds: z.int().nullable(),
    warm_up: z.record(z.string(), z.unknown()).nullable(),
    models: z.array(ModelNameSchema).nullable(),
    pool: z.string().meta({ description: 'Pool of its workers.' }),
    created_at: TimestampSchema,
    ended_at: TimestampSchema.nullable(),
    latest_jobs: LatestJobsSchema,
  })
  .meta({
    id: 'DeploymentVersion',
    description: 'A version of a deployment. Of one that has ended only little is known.',
  });

export const DeploymentVersionsSchema = z
  .object({ versions: z.array(VersionSchema) })
  .meta({ id: 'DeploymentVersions', description: 'The versions of a deployment, the newest first.' });

const OperatedVersionSchema = VersionSchema.extend({ warm_up: warmUpDigest }).meta({
  id: 'OperatedDeploymentVersion',
  description: 'A version of a deployment, as operators see it.',
});

export const OperatedVersionsSchema = z
  .object({ versions: z.array(OperatedVersionSchema) })
  .meta({ id: 'OperatedDeploymentVersions', description: 'The versions of a deployment, the newest first.' });

const { name: _, ...made } = changes;
const description = 'What a new version has otherwise than the present one. An absent field is as it is there.';
const share = { weight: weight.default(0).meta({ description: 'Jobs that run on it, in percent of all.' }) };

export const OwnVersionCreateSchema = z.strictObject({ ...made, ...share }).meta({
  id: 'OwnDeploymentVersionCreate',
  description: `${description} With another class comes the price of that class.`,
});

export const VersionCreateSchema = z
  .strictObject({ ...made, price_micros_per_second: price.optional(), ...share })
  .meta({ id: 'DeploymentVersionCreate', description });

/** Whether there is a weight is checked where the deployment is known: a stranger finds nothing there with any body. */
export const VersionWeightSchema = z
  .strictObject({
    weight: weight.optional().meta({
      description: 'Jobs that run on it, in percent of all; the other version takes the rest. It must be given.',
    }),
  })
  .meta({ id: 'DeploymentVersionWeight', description: 'The share of a version.' });

/** The part of a path that names a version. */
export const versionNumber = pathText('Number of the version.', /^[1-9]\d{0,8}$/);
