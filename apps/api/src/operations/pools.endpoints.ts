import { z } from 'zod';
import { TimestampSchema } from '@millrace/contracts';
import { defineEndpoint } from '../endpoints';

const PoolSchema = z
  .object({
    id: z.string(),
    engine: z.string(),
    deployment_id: z.uuid().nullable().meta({ description: 'Null for a pool that all accounts share.' }),
    deployment_name: z.string().nullable(),
    account_id: z.uuid().nullable().meta({ description: "The deployment's account." }),
    account_name: z.string().nullable(),
    node_count: z
      .int()
      .nullable()
      .meta({ description: 'Kinds of nodes in its catalogue; null until a worker has published one.' }),
    queue_limit: z.int().nullable().meta({ description: "Null means the service's limit." }),
    attempt_limit_seconds: z.int().nullable().meta({ description: "Null means the service's limit." }),
    created_at: TimestampSchema,
  })
  .meta({ id: 'Pool', description: 'Workers that serve one queue with one kind of engine.' });

const PoolListSchema = z
  .object({ pools: z.array(PoolSchema) })
  .meta({ id: 'PoolList', description: 'Pools, but those of deleted deployments.' });

export const listPools = defineEndpoint({
  id: 'listPools',
  method: 'get',
  path: '/admin/v1/pools',
  tag: 'pools',
  access: { by: 'operator', role: 'viewer' },
  summary: 'List pools',
  description:
    'What each pool can run, and its limits: those that all accounts share first, then those of deployments. A version of a deployment that has ended is listed while it has jobs. `GET /admin/v1/queues` says how much work each has.',
  answers: { 200: { description: 'The pools.', schema: PoolListSchema } },
});
